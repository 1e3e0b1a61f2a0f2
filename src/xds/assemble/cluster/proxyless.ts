// The clusters of a proxyless gRPC client, by name: there is no list of all, because gRPC asks for those that its
// routes lead to.

import type { Resource } from '../../../core/model/resource.ts';
import type { Query } from '../../../core/query/reader.ts';
import { selectProxylessCluster } from '../../../core/select/cluster/proxyless.ts';
import { proxylessCluster } from '../../generate/cluster/proxyless.ts';
import type { Cluster } from '../../proto/types.gen.ts';

/** Argument: the name of a cluster. */
export const proxylessClusterNamed: Query<string, Resource<Cluster> | undefined> = {
  name: 'cluster/proxylessClusterNamed',
  run: (reader, name) => {
    const inputs = selectProxylessCluster(reader, name);
    return inputs === undefined ? undefined : reader.make(proxylessCluster, inputs);
  },
};
