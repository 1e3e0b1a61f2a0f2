// The clusters of a waypoint that are its own: of the services behind it, and those around its tunnels.
// Source: Istio pilot/pkg/networking/core/cluster.go (buildClusters), pilot/pkg/networking/core/cluster_waypoint.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader, Query, Selection } from '../../../core/query/reader.ts';
import { selectTunnelClusters } from '../../../core/select/cluster/tunnels.ts';
import {
  selectVipBlock,
  selectVipClusters,
  type VipBlock,
  type VipClusterParts,
  type VipService,
  vipBlocks,
  vipServices,
} from '../../../core/select/cluster/waypoint.ts';
import { isWaypoint } from '../../../core/select/proxy/proxy-type.ts';
import { outboundCluster } from '../../generate/cluster/outbound.ts';
import { innerTunnelOpener, internalCluster, tunnelOpener } from '../../generate/cluster/tunnels.ts';
import { type UpstreamSockets, upstreamTls } from '../../generate/cluster/upstream-tls.ts';
import { vipSocket } from '../../generate/cluster/waypoint.ts';
import { loadAssignment } from '../../generate/endpoint/assignment.ts';
import type { Cluster, ClusterLoadAssignment } from '../../proto/types.gen.ts';
import type { Pieces } from '../source.ts';

type Clusters = readonly Resource<Cluster>[];

/** Istio's patches reach none of them. */
export const waypointClusters: Query<'', Clusters> = {
  name: 'cluster/waypointClusters',
  run: reader => {
    const { openers, internal, inner } = selectTunnelClusters(reader);
    return [
      ...internal.map(inputs => reader.make(internalCluster, inputs)),
      ...reader.selectEach(vipClusters, vipServices(reader)).flat(),
      ...openers.map(inputs => reader.make(tunnelOpener, inputs)),
      ...(inner === undefined ? [] : [reader.make(innerTunnelOpener, inner)]),
    ];
  },
};

const vipClusters: Selection<VipService, Clusters> = {
  name: 'cluster/vipClusters',
  run: (reader, of) => {
    const blocks = vipBlocks(reader, of);
    if (blocks.length > 0) return blocks.flatMap(block => reader.select(vipBlock, block));
    return selectVipClusters(reader, partsOf(reader), of).map(inputs => reader.make(outboundCluster, inputs));
  },
};

/** Of the services behind the waypoint; none for another proxy. */
export const waypointPieces: Pieces<VipService> = {
  list: reader => (isWaypoint(reader) ? vipServices(reader) : []),
  each: vipClusters,
};

const vipBlock: Selection<VipBlock, Clusters> = {
  name: 'cluster/vipBlock',
  run: (reader, block) =>
    selectVipBlock(reader, partsOf(reader), block).map(inputs => reader.make(outboundCluster, inputs)),
};

function partsOf(reader: ProxyReader): VipClusterParts<UpstreamSockets, ClusterLoadAssignment> {
  return {
    socket: (tls, proxyProtocol) => {
      const sockets = tls === undefined ? undefined : reader.make(upstreamTls, tls);
      return reader.make(vipSocket, { tls: sockets, proxyProtocol });
    },
    assignment: inputs => reader.make(loadAssignment, inputs).message,
  };
}
