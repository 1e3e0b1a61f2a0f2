// The clusters of a subscription that have endpoints, and the inputs of their assignments. An assignment follows from
// the cluster's name, its service and the rule in force for it, so proxies that see the same share it.
// Source: Istio pilot/pkg/xds/endpoints/endpoint_builder.go (NewEndpointBuilder, BuildClusterLoadAssignment).

import { portNumbered, type Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { parseClusterName, vipSubset } from '../cluster/cluster-names.ts';
import { policyOfPort, policyOfSubset } from '../cluster/traffic-policy.ts';
import { destinationRule, type MergedRule, scopeRules } from '../scope/destination-rules.ts';
import { scopeIndex, scopeService } from '../scope/sidecar-scope.ts';
import { subsetNamed } from '../scope/subsets.ts';
import { type AssignmentInputs, selectAssignment, selectWaypointAssignment } from './assignment.ts';
import { ingressWaypoint, waypointTarget } from './ingress-waypoint.ts';

export interface ClusterEndpoints {
  readonly clusterName: string;
  /** Undefined: not in the proxy's scope; the assignment is empty. */
  readonly service: Service | undefined;
  /** The DestinationRule in force for the proxy. */
  readonly rule: MergedRule | undefined;
}

/** Undefined: no service of the proxy's scope has the name, and the protocol can say that (`withoutService`). */
export function endpointsOfCluster(reader: ProxyReader, clusterName: string): ClusterEndpoints | undefined {
  const hostname = outboundHost(clusterName);
  const service = hostname === undefined ? undefined : reader.get(scopeService, hostname);
  if (service === undefined) return withoutService(reader, clusterName);
  const rule = reader.get(destinationRule, { hostname: service.hostname, direction: 'outbound' });
  return { clusterName, service, rule };
}

/**
 * A delta response removes the name, and Envoy goes on. A state-of-the-world response cannot remove one, and Envoy
 * waits for the assignment of each cluster, also of a waypoint's, which are not of its scope, and of one that an
 * EnvoyFilter added. Source: Istio pilot/pkg/xds/eds.go (buildEndpoints).
 */
function withoutService(reader: ProxyReader, clusterName: string): ClusterEndpoints | undefined {
  return reader.protocol() === 'sotw' ? { clusterName, service: undefined, rule: undefined } : undefined;
}

/**
 * As `endpointsOfCluster` for each name, without the undefined ones; reads two indexes of the scope instead of one
 * query a host.
 */
export function endpointsOfClusters(reader: ProxyReader, clusterNames: readonly string[]): readonly ClusterEndpoints[] {
  const services = reader.get(scopeIndex, '');
  const rules = reader.get(scopeRules, '');
  const found: ClusterEndpoints[] = [];
  for (const clusterName of clusterNames) {
    const service = services.get(outboundHost(clusterName) ?? '');
    if (service !== undefined) found.push({ clusterName, service, rule: rules.get(service.hostname) });
    else {
      const empty = withoutService(reader, clusterName);
      if (empty !== undefined) found.push(empty);
    }
  }
  return found;
}

function outboundHost(clusterName: string): string | undefined {
  const parsed = parseClusterName(clusterName);
  return parsed === undefined || parsed.direction === 'inbound' ? undefined : parsed.hostname;
}

/**
 * Undefined: the assignment is empty, because the service is out of scope or lacks the port, its cluster resolves host
 * names itself, or the waypoint that it asks for is unknown.
 */
export function selectClusterEndpoints(
  reader: ProxyReader,
  { clusterName, service, rule }: ClusterEndpoints,
): AssignmentInputs | undefined {
  if (service === undefined) return undefined;
  const parsed = parseClusterName(clusterName)!;
  const port = portNumbered(service, parsed.port);
  if (port === undefined || resolvesHostNames(service)) return undefined;
  const vip = parsed.direction === 'inbound-vip';
  const subsetName = vip ? vipSubset(parsed.subset) : parsed.subset;
  const subset = subsetNamed(rule?.spec, subsetName);
  const base = policyOfPort(rule?.spec.trafficPolicy, port.port);
  const policy = subset === undefined ? base : policyOfSubset(base, subset, port.port);
  const { sniDnat } = parsed;
  const question = { clusterName, service, port, subset, rule, policy, dns: false, sniDnat, vip } as const;
  const waypoint = sniDnat ? undefined : ingressWaypoint(reader, service);
  if (waypoint === undefined) return selectAssignment(reader, question);
  const target = waypointTarget(reader, waypoint);
  return target && selectWaypointAssignment(reader, question, target);
}

function resolvesHostNames(service: Service): boolean {
  return service.resolution === 'DNSLB' || service.resolution === 'DNSRoundRobinLB';
}
