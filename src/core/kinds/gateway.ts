// Gateway: the servers of a gateway proxy.

import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio.ts';

export const gateway = istioKind({
  kind: 'Gateway',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.Gateway',
});
