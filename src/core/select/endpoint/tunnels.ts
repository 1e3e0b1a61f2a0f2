// Which endpoints the proxy reaches through HBONE tunnels.
// Source: Istio pilot/pkg/xds/endpoints/endpoint_builder.go (supportTunnel, buildEnvoyLbEndpoint).

import { MANAGED_LABEL, WAYPOINT_CONTROLLER } from '../../base/labels.ts';
import type { Endpoint } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { isCaptured } from '../ambient/captured.ts';
import { opensTunnels } from '../proxy/hbone.ts';
import { isProxyless } from '../proxy/proxyless.ts';

/**
 * For each endpoint; empty: through none. Endpoints that take mesh mTLS are reached by it, unless a flag or `always`
 * says not.
 */
export function tunnelsTo(reader: ProxyReader, endpoints: readonly Endpoint[], always: boolean): readonly boolean[] {
  if (!opensTunnels(reader) || isProxyless(reader)) return [];
  const preferred = always || reader.feature('PILOT_PREFER_SENDING_HBONE');
  const tunnels = endpoints.map(
    endpoint => (preferred || endpoint.tlsMode !== 'istio') && takesTunnels(reader, endpoint),
  );
  return tunnels.includes(true) ? tunnels : [];
}

function takesTunnels(reader: ProxyReader, endpoint: Endpoint): boolean {
  return endpoint.labels[MANAGED_LABEL] === WAYPOINT_CONTROLLER || isCaptured(reader, endpoint);
}
