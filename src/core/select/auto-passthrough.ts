// Whether a gateway routes by SNI alone to services of the mesh (tls.mode AUTO_PASSTHROUGH), as east-west gateways do.
// Source: Istio pilot/pkg/networking/core/cluster.go (buildClusters), pilot/pkg/model/gateway.go; spec-clusters §10.2.

import type { ProxyReader } from '../reader.ts';
import { proxySelectedBy } from '../registry/workload.ts';

/** True if a server of a Gateway that selects the proxy has the mode. A Gateway without a selector is every gateway's. */
export function hasAutoPassthrough(reader: ProxyReader): boolean {
  const scoped = reader.feature('PILOT_SCOPE_GATEWAY_TO_NAMESPACE');
  for (const gateway of reader.objects('Gateway')) {
    if (!(gateway.spec.servers ?? []).some(server => server.tls?.mode === 'AUTO_PASSTHROUGH')) continue;
    if (scoped && gateway.namespace !== reader.facet('namespace')) continue;
    if (proxySelectedBy(reader, gateway.spec.selector ?? {})) return true;
  }
  return false;
}
