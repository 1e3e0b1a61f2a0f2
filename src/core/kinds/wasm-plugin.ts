// WasmPlugin: a Wasm filter. Decoded only; its resourceVersion counts, because it is part of what a proxy is sent.

import { istioKind } from './istio.ts';

export const wasmPlugin = istioKind({
  kind: 'WasmPlugin',
  group: 'extensions.istio.io',
  versions: ['v1alpha1'],
  type: 'istio.extensions.v1alpha1.WasmPlugin',
  keepMeta: ['resourceVersion'],
});
