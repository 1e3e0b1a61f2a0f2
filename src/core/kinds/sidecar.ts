// Sidecar: what a sidecar sees and how it listens.

import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio.ts';

export const sidecar = istioKind({
  kind: 'Sidecar',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.Sidecar',
});
