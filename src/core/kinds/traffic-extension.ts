// TrafficExtension: a Lua or Wasm filter. Decoded only.

import { istioKind } from './istio.ts';

export const trafficExtension = istioKind({
  kind: 'TrafficExtension',
  group: 'extensions.istio.io',
  versions: ['v1alpha1'],
  type: 'istio.extensions.v1alpha1.TrafficExtension',
});
