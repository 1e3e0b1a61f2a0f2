// The transport socket of a waypoint's clusters: to the internal listener that opens a tunnel, with the TLS and PROXY
// protocol of the rule inside of it.
// Source: Istio pilot/pkg/networking/core/cluster_waypoint.go (buildWaypointInboundVIPCluster).

import type { Generator } from '../../../core/query/memo.ts';
import type { TrafficPolicy_ProxyProtocol } from '../../../core/schema/istio-types.gen.ts';
import { endpointMetadata, internalSocket, rawBuffer } from '../common/internal-upstream.ts';
import { type UpstreamSockets, withProxyProtocol } from './upstream-tls.ts';

export const vipSocket: Generator<
  { readonly tls: UpstreamSockets | undefined; readonly proxyProtocol: TrafficPolicy_ProxyProtocol | undefined },
  UpstreamSockets
> = {
  name: 'cluster/vipSocket',
  run: ({ tls, proxyProtocol }) => {
    const bare = { socket: tls?.socket ?? rawBuffer('raw_buffer') };
    const { socket = bare.socket } = proxyProtocol === undefined ? bare : withProxyProtocol(bare, proxyProtocol);
    return { socket: internalSocket('internal_upstream', socket, endpointMetadata) };
  },
};
