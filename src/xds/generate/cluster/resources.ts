// All clusters of a proxy (spec-clusters §2). Those of a service follow from the service and the rule that is in force for it, whoever the proxy
// is: namespaces that see the same of both share the clusters, and a changed DestinationRule is looked at only for the services that it concerns.

import { compareText } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Service } from '../../../core/model/service.ts';
import type { ProxyReader, Query, Selection } from '../../../core/query/reader.ts';
import { parseClusterName } from '../../../core/select/cluster/cluster-names.ts';
import { commonClusterInputs, metadataExchange } from '../../../core/select/cluster/common.ts';
import { bindInputs, selectInboundClusters } from '../../../core/select/cluster/inbound.ts';
import { type ClusterParts, selectOutboundClusters } from '../../../core/select/cluster/outbound.ts';
import { servicesWithClusters } from '../../../core/select/gateway/gateway-services.ts';
import { mergedGateway } from '../../../core/select/gateway/gateways.ts';
import { preservesHeaderCase, saysTrue } from '../../../core/select/proxy/proxy-metadata.ts';
import { destinationRule, type MergedRule, scopeRules } from '../../../core/select/scope/destination-rules.ts';
import { scopedServices, scopeService } from '../../../core/select/scope/sidecar-scope.ts';
import type { Cluster, ClusterLoadAssignment } from '../../proto/types.gen.ts';
import type { Pieces } from '../common/source.ts';
import { loadAssignment } from '../endpoint/assignment.ts';
import { inboundCluster } from './inbound.ts';
import { outboundCluster } from './outbound.ts';
import { blackHoleCluster, credentialCluster, inboundPassthroughCluster, passthroughCluster } from './special.ts';
import { type UpstreamSockets, upstreamTls } from './upstream-tls.ts';

type Clusters = readonly Resource<Cluster>[];

/** Every cluster of the proxy, by name. Of clusters of one name that are not a service's own, the first counts. */
export const clusters: Query<'', Clusters> = {
  name: 'cluster/clusters',
  run: reader => {
    const outbound: Resource<Cluster>[] = [];
    const sniDnat: Resource<Cluster>[] = [];
    const byName = reader.facet('type') === 'router' && reader.get(mergedGateway, '').autoPassthrough;
    const rules = reader.get(scopeRules, '');
    for (const piece of servicePieces(reader)) outbound.push(...reader.select(outboundClusters, piece));
    for (const service of byName ? reader.get(scopedServices, '') : []) {
      sniDnat.push(...reader.select(outboundClusters, { service, rule: rules.get(service.hostname), sniDnat: true }));
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

/**
 * Argument: the name of a cluster. The same cluster as in `clusters`, by way of the service that it is of alone: what it was made from can
 * be told by this way, and what was looked for in vain.
 */
export const clusterNamed: Query<string, Resource<Cluster> | undefined> = {
  name: 'cluster/clusterNamed',
  run: (reader, name) => {
    const { hostname, direction, sniDnat } = parseClusterName(name) ?? {};
    const own = (): Resource<Cluster> | undefined => reader.get(ownClusters, '').find(made => made.name === name);
    if (hostname === undefined || direction !== 'outbound') return own();
    const service = reader.get(scopeService, hostname);
    if (service === undefined) return own();
    const rule = reader.get(destinationRule, `${hostname}|${service.namespace}|outbound`);
    const of = { service, rule, sniDnat: sniDnat === true };
    return reader.select(outboundClusters, of).find(made => made.name === name) ?? own();
  },
};

interface ServiceClusters {
  readonly service: Service;
  readonly rule: MergedRule | undefined;
  /** Those that a gateway routes to by SNI alone. */
  readonly sniDnat: boolean;
}

/** The clusters of a service: ports, then subsets, in order. */
const outboundClusters: Selection<ServiceClusters, Clusters> = {
  name: 'cluster/outboundClusters',
  run: (reader, { service, rule, sniDnat }) =>
    selectOutboundClusters(reader, partsOf(reader), service, rule, sniDnat).map(inputs =>
      reader.make(outboundCluster, inputs),
    ),
};

function servicePieces(reader: ProxyReader): readonly ServiceClusters[] {
  const rules = reader.get(scopeRules, '');
  return servicesWithClusters(reader).map(service => ({ service, rule: rules.get(service.hostname), sniDnat: false }));
}

export const clusterPieces: Pieces<ServiceClusters> = { list: servicePieces, each: outboundClusters };

/** Clusters that come from the proxy itself: inbound and special ones. */
const ownClusters: Query<'', Clusters> = {
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
    if (saysTrue(reader, 'credential')) found.push(reader.make(credentialCluster, { connectTimeout }));
    return found;
  },
};

function partsOf(reader: ProxyReader): ClusterParts<UpstreamSockets, ClusterLoadAssignment> {
  return {
    sockets: inputs => reader.make(upstreamTls, inputs),
    assignment: inputs => reader.make(loadAssignment, inputs).message,
  };
}
