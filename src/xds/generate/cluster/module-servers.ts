// The cluster of a server from which Envoy itself fetches Wasm modules.
//
// TLS is not verified: Envoy finds roots only in files that its image may lack, and the digest of the module decides
// whether it is the right one.

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ModuleClusterInputs } from '../../../core/select/cluster/module-clusters.ts';
import { any } from '../../proto/any.ts';
import { type Cluster, Cluster_DiscoveryType, Cluster_DnsLookupFamily } from '../../proto/types.gen.ts';

export const moduleServerCluster: Generator<ModuleClusterInputs, Resource<Cluster>> = {
  name: 'cluster/moduleServer',
  run: ({ cluster: name, tls, host, port, literal, family, connectTimeout }) => {
    const address = { socketAddress: { address: host, portValue: port } };
    const context = { sni: literal ? undefined : host, commonTlsContext: {} };
    const message: Cluster = {
      name,
      altStatName: `${name};`,
      type: literal ? Cluster_DiscoveryType.STATIC : Cluster_DiscoveryType.STRICT_DNS,
      connectTimeout,
      dnsLookupFamily: literal ? undefined : Cluster_DnsLookupFamily[family],
      respectDnsTtl: literal ? undefined : true,
      loadAssignment: { clusterName: name, endpoints: [{ lbEndpoints: [{ endpoint: { address } }] }] },
      transportSocket: tls
        ? {
            name: 'envoy.transport_sockets.tls',
            typedConfig: any('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', context),
          }
        : undefined,
    };
    return { name, message, problems: [] };
  },
};
