// ProxyConfig: proxy settings of a namespace or workload. Decoded only.

import { istioKind, NETWORKING } from './istio.ts';

export const proxyConfig = istioKind({
  kind: 'ProxyConfig',
  group: NETWORKING,
  versions: ['v1beta1'],
  type: 'istio.networking.v1beta1.ProxyConfig',
});
