// TrafficExtension: a Lua or Wasm filter. Rules: Istio pkg/config/validation (ValidateTrafficExtension). The
// resourceVersion of one with a Wasm module counts, because it is part of the generated resource.

import { isObject } from '../../base/json.ts';
import type { Obj } from '../../model/object.ts';
import type { TrafficExtension } from '../../schema/istio-types.gen.ts';
import { type Reference, secret } from '../references.ts';
import type { Report } from '../report.ts';
import { istioKind } from './istio-kind.ts';
import { policyReferences } from './policy-targets.ts';
import { checkModule, checkTrafficSelectors } from './validate/module.ts';
import { checkPolicyTargets } from './validate/policy-targets.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly TrafficExtension: { readonly spec: TrafficExtension; readonly push: 'config' };
  }
}

export const trafficExtension = istioKind({
  kind: 'TrafficExtension',
  group: 'extensions.istio.io',
  versions: ['v1alpha1'],
  push: 'config',
  type: 'istio.extensions.v1alpha1.TrafficExtension',
  keepMeta: raw => (isObject(raw.spec) && raw.spec.wasm !== undefined ? ['resourceVersion'] : []),
  rules: checkTrafficExtension,
  references: trafficExtensionReferences,
});

const CODE_LENGTH_MAX = 65_536;

function checkTrafficExtension(spec: TrafficExtension, report: Report): void {
  const { wasm, lua, match } = spec;
  if ((wasm === undefined) === (lua === undefined)) report('spec', 'exactly one of lua, wasm must be set');
  checkPolicyTargets(spec, report);
  if (lua !== undefined) {
    const length = lua.inlineCode?.length ?? 0;
    if (length === 0) report('spec.lua.inlineCode', 'is missing');
    if (length > CODE_LENGTH_MAX)
      report('spec.lua.inlineCode', `is ${length} characters long; at most ${CODE_LENGTH_MAX}`);
  }
  if (wasm !== undefined) checkModule(wasm, 'spec.wasm', report);
  checkTrafficSelectors(match, report);
}

function trafficExtensionReferences(obj: Obj<'TrafficExtension'>): readonly Reference[] {
  const { imagePullSecret } = obj.spec.wasm ?? {};
  return [...policyReferences(obj), ...secret('spec.wasm.imagePullSecret', obj.namespace, imagePullSecret)];
}
