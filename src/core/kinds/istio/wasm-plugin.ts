// WasmPlugin: a Wasm filter. Rules: Istio pkg/config/validation (ValidateWasmPlugin). Its resourceVersion counts,
// because it is part of the generated resource.

import type { Obj } from '../../model/object.ts';
import type { WasmPlugin } from '../../schema/istio-types.gen.ts';
import { type Reference, secret } from '../references.ts';
import type { Report } from '../report.ts';
import { istioKind } from './istio-kind.ts';
import { policyReferences } from './policy-targets.ts';
import { checkModule, checkTrafficSelectors } from './validate/module.ts';
import { checkPolicyTargets } from './validate/policy-targets.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly WasmPlugin: { readonly spec: WasmPlugin; readonly push: 'config' };
  }
}

export const wasmPlugin = istioKind({
  kind: 'WasmPlugin',
  group: 'extensions.istio.io',
  versions: ['v1alpha1'],
  push: 'config',
  type: 'istio.extensions.v1alpha1.WasmPlugin',
  keepMeta: ['resourceVersion'],
  rules: checkWasmPlugin,
  references: wasmPluginReferences,
});

function checkWasmPlugin(spec: WasmPlugin, report: Report): void {
  checkPolicyTargets(spec, report);
  checkModule(spec, 'spec', report);
  checkTrafficSelectors(spec.match, report);
}

/** The Secret for pulling the module, and the targets of the filter. */
function wasmPluginReferences(obj: Obj<'WasmPlugin'>): readonly Reference[] {
  return [...policyReferences(obj), ...secret('spec.imagePullSecret', obj.namespace, obj.spec.imagePullSecret)];
}
