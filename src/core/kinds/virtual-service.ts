// VirtualService: how requests to hosts are routed.

import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio.ts';

export const virtualService = istioKind({
  kind: 'VirtualService',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.VirtualService',
});
