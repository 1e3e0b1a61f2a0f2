// Which services have outbound clusters for the proxy, each with the DestinationRule in force for it. The clusters of a
// service depend on the service and that rule alone, so namespaces that see the same two share the clusters, and a
// changed rule concerns its own services only.
// Source: Istio pilot/pkg/networking/core/cluster.go (buildOutboundClusters, buildOutboundSniDnatClusters).

import type { Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { servicesWithClusters } from '../gateway/gateway-services.ts';
import { mergedGateway } from '../gateway/gateways.ts';
import { isWaypoint } from '../proxy/proxy-type.ts';
import { destinationRule, type MergedRule, scopeRules } from '../scope/destination-rules.ts';
import { scopedServices, scopeService } from '../scope/sidecar-scope.ts';
import { parseClusterName } from './cluster-names.ts';
import { servicesBeyondWaypoint } from './waypoint.ts';

export interface ServiceClusters {
  readonly service: Service;
  readonly rule: MergedRule | undefined;
  /** The clusters that a gateway routes to by SNI alone (AUTO_PASSTHROUGH). */
  readonly sniDnat: boolean;
}

export function servicesOfClusters(reader: ProxyReader): readonly ServiceClusters[] {
  const rules = reader.get(scopeRules, '');
  const services = isWaypoint(reader) ? reader.get(servicesBeyondWaypoint, '') : servicesWithClusters(reader);
  return services.map(service => ({ service, rule: rules.get(service.hostname), sniDnat: false }));
}

/** Empty unless the proxy is a gateway with an AUTO_PASSTHROUGH server. */
export function servicesOfSniDnatClusters(reader: ProxyReader): readonly ServiceClusters[] {
  if (reader.facet('type') !== 'router' || !reader.get(mergedGateway, '').autoPassthrough) return [];
  const rules = reader.get(scopeRules, '');
  return reader.get(scopedServices, '').map(service => ({ service, rule: rules.get(service.hostname), sniDnat: true }));
}

/** The service that the cluster of this name belongs to; undefined if it belongs to none in the proxy's scope. */
export function serviceOfCluster(reader: ProxyReader, name: string): ServiceClusters | undefined {
  const { hostname, direction, sniDnat } = parseClusterName(name) ?? {};
  if (hostname === undefined || direction !== 'outbound') return undefined;
  const service = reader.get(scopeService, hostname);
  if (service === undefined) return undefined;
  const rule = reader.get(destinationRule, { hostname, direction: 'outbound' });
  return { service, rule, sniDnat: sniDnat === true };
}
