// DestinationRule: policy for the traffic to a host.

import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio.ts';

export const destinationRule = istioKind({
  kind: 'DestinationRule',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.DestinationRule',
});
