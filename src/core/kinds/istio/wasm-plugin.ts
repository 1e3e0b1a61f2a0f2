// WasmPlugin: a Wasm filter. Rules: Istio pkg/config/validation (ValidateWasmPlugin). Its resourceVersion counts, because it is part of what
// a proxy is sent.

import type { WasmPlugin } from '../../schema/istio-types.gen.ts';
import type { Report } from '../report.ts';
import { istioKind } from './istio-kind.ts';
import { wasmPluginReferences } from './references-policies.ts';
import { checkModule, checkTrafficSelectors } from './validate/module.ts';
import { checkPolicyTargets } from './validate/policy-targets.ts';

export const wasmPlugin = istioKind({
  kind: 'WasmPlugin',
  group: 'extensions.istio.io',
  versions: ['v1alpha1'],
  type: 'istio.extensions.v1alpha1.WasmPlugin',
  keepMeta: ['resourceVersion'],
  rules: checkWasmPlugin,
  notYet: 'no filter is loaded',
  references: wasmPluginReferences,
});

function checkWasmPlugin(spec: WasmPlugin, report: Report): void {
  checkPolicyTargets(spec, report);
  checkModule(spec, 'spec', report);
  checkTrafficSelectors(spec.match, report);
}
