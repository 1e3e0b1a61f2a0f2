// EnvoyFilter: patches to generated configuration. Decoded only.

import { istioKind, NETWORKING } from './istio.ts';

export const envoyFilter = istioKind({
  kind: 'EnvoyFilter',
  group: NETWORKING,
  versions: ['v1alpha3'],
  type: 'istio.networking.v1alpha3.EnvoyFilter',
});
