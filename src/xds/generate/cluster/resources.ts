// All clusters of a proxy (spec-clusters §2). Put together from queries per service, so that a changed DestinationRule is looked at
// for the services that it concerns, and nowhere else.

import { compareText } from '../../../core/object.ts';
import type { ProxyReader, Query } from '../../../core/reader.ts';
import type { Resource } from '../../../core/resource.ts';
import { hasAutoPassthrough } from '../../../core/select/auto-passthrough.ts';
import { commonClusterInputs, metadataExchange } from '../../../core/select/cluster-common.ts';
import { servicesWithClusters } from '../../../core/select/gateway-services.ts';
import { bindInputs, selectInboundClusters } from '../../../core/select/inbound-cluster.ts';
import { type OutboundSelection, selectOutboundClusters } from '../../../core/select/outbound-cluster.ts';
import { metadataFlag, preservesHeaderCase } from '../../../core/select/proxy-metadata.ts';
import { scopedServices, scopeService } from '../../../core/select/sidecar-scope.ts';
import type { Cluster } from '../../proto/types.gen.ts';
import { loadAssignment } from '../endpoint/assignment.ts';
import { inboundCluster } from './inbound.ts';
import { outboundCluster } from './outbound.ts';
import { blackHoleCluster, credentialCluster, inboundPassthroughCluster, passthroughCluster } from './special.ts';
import { upstreamTls } from './upstream-tls.ts';

type Clusters = readonly Resource<Cluster>[];

/** Every cluster of the proxy, by name. Of clusters of one name that are not a service's own, the first counts. */
export const clusters: Query<'', Clusters> = {
  name: 'cluster/clusters',
  run: reader => {
    const outbound: Resource<Cluster>[] = [];
    const sniDnat: Resource<Cluster>[] = [];
    const byName = reader.facet('type') === 'router' && hasAutoPassthrough(reader);
    for (const { hostname, namespace } of servicesWithClusters(reader)) {
      outbound.push(...reader.get(clustersOfService, `${hostname}|${namespace}`));
    }
    for (const { hostname, namespace } of byName ? reader.get(scopedServices, '') : []) {
      sniDnat.push(...reader.get(sniDnatClustersOfService, `${hostname}|${namespace}`));
    }
    const seen = new Set<string>();
    const others = [...reader.get(ownClusters, ''), ...sniDnat].filter(({ name }) => {
      const fresh = !seen.has(name);
      seen.add(name);
      return fresh;
    });
    return [...outbound, ...others].sort((a, b) => compareText(a.name, b.name));
  },
};

/** Argument `hostname|namespace`: the outbound clusters of a service in the proxy's scope; ports, then subsets, in order. */
export const clustersOfService: Query<string, Clusters> = {
  name: 'cluster/clustersOfService',
  run: (reader, arg) => outboundClusters(reader, arg, false),
};

/** Argument `hostname|namespace`: the clusters that a gateway routes to by SNI alone. */
export const sniDnatClustersOfService: Query<string, Clusters> = {
  name: 'cluster/sniDnatClustersOfService',
  run: (reader, arg) => outboundClusters(reader, arg, true),
};

/** Clusters that come from the proxy itself: inbound and special ones. */
export const ownClusters: Query<'', Clusters> = {
  name: 'cluster/ownClusters',
  run: reader => {
    const common = commonClusterInputs(reader);
    const { connectTimeout } = common;
    const found = [reader.make(blackHoleCluster, { connectTimeout })];
    if (reader.facet('type') === 'sidecar') {
      const headerCase = preservesHeaderCase(reader);
      const exchange = metadataExchange(reader);
      const outward = { ...common, headerCase, exchangeMetadata: exchange.on, exchangeLabels: exchange.labels };
      found.push(reader.make(passthroughCluster, outward));
      for (const inputs of selectInboundClusters(reader)) found.push(reader.make(inboundCluster, inputs));
      // Both families whatever ISTIO_DUAL_STACK says: as Istio sends it.
      const bind = bindInputs(reader.facet('ipMode'), true);
      found.push(reader.make(inboundPassthroughCluster, { ...common, ...bind, headerCase }));
    }
    if (metadataFlag(reader, 'credential')) found.push(reader.make(credentialCluster, { connectTimeout }));
    return found;
  },
};

function outboundClusters(reader: ProxyReader, arg: string, sniDnat: boolean): Clusters {
  const [hostname = ''] = arg.split('|');
  const service = reader.get(scopeService, hostname);
  if (service === undefined) return [];
  return selectOutboundClusters(reader, service, sniDnat).map(selection => makeCluster(reader, selection));
}

function makeCluster(reader: ProxyReader, selection: OutboundSelection): Resource<Cluster> {
  const sockets = selection.tls === undefined ? undefined : reader.make(upstreamTls, selection.tls);
  const assignment =
    selection.assignment === undefined ? undefined : reader.make(loadAssignment, selection.assignment).message;
  return reader.make(outboundCluster, { ...selection.cluster, sockets, assignment });
}
