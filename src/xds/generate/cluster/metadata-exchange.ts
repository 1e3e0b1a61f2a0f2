// The filter that exchanges workload metadata between two istio-proxies on TCP connections; every outbound cluster has
// it, for every protocol. Source: Istio pilot/pkg/xds/filters/filters.go (TCPClusterMx).

import { any } from '../../proto/any.ts';
import type { ClusterFilter } from '../../proto/types.gen.ts';
import { additionalLabels } from '../common/additional-labels.ts';
import { lastOf } from '../common/last.ts';

/** `labels`: comma-separated names of workload labels that travel too. */
export const metadataExchangeFilter = lastOf((labels: string): ClusterFilter => {
  return {
    name: 'istio.metadata_exchange',
    typedConfig: any('udpa.type.v1.TypedStruct', {
      typeUrl: 'type.googleapis.com/envoy.tcp.metadataexchange.config.MetadataExchange',
      value: {
        protocol: 'istio-peer-exchange',
        enable_discovery: true,
        ...additionalLabels(labels),
      },
    }),
  };
});
