// Clusters with the patches of the proxy, and those that patches add: the identical list if none is for any of them.

import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { inboundClusterHosts } from '../../../core/select/cluster/inbound.ts';
import type { PatchContext } from '../../../core/select/patch/envoy-patch.ts';
import { addedClusters, type ClusterPatches } from '../../../core/select/patch/proxy-patches.ts';
import { addedCluster, patchedCluster } from '../../generate/patch/cluster.ts';
import type { Cluster } from '../../proto/types.gen.ts';
import { kept } from './kept.ts';

type Clusters = readonly Resource<Cluster>[];

const noHosts: readonly string[] = [];

/** `of`: the patches of the context; undefined: none. */
export function patchedClusters(
  reader: ProxyReader,
  clusters: Clusters,
  of: ClusterPatches | undefined,
  inbound = false,
): Clusters {
  if (of === undefined) return clusters;
  return clusters.flatMap(cluster => {
    const hosts = inbound ? reader.get(inboundClusterHosts, cluster.name) : noHosts;
    const result = kept(reader, cluster, reader.make(patchedCluster, { cluster, of, hosts }));
    return result === undefined ? [] : [result];
  });
}

export function clustersAddedFor(reader: ProxyReader, context: PatchContext): Clusters {
  return reader.get(addedClusters, context).map(patch => reader.make(addedCluster, { patch }));
}
