// The hosts of a cluster that has a load assignment, and the share of traffic of each: by priority and health, by
// locality weight where the cluster weighs localities, by the weight of the host.

import {
  type Cluster,
  Cluster_LbPolicy,
  type ClusterLoadAssignment,
  Cluster_LbSubsetConfig_LbSubsetFallbackPolicy as Fallback,
  HealthStatus,
  type LbEndpoint,
  type Locality,
  type LocalityLbEndpoints,
  type Metadata,
} from '../xds/proto/types.gen.ts';
import { DEFAULT_OVERPROVISIONING, DEFAULT_PANIC_THRESHOLD, type PriorityLoad, priorityLoads } from './priority.ts';

export interface Host {
  readonly endpoint: LbEndpoint;
  readonly locality: Locality;
  readonly localityMetadata: Metadata | undefined;
  readonly priority: number;
}

export type WeightedHost = readonly [weight: number, host: Host];

type Health = 'healthy' | 'degraded' | 'unhealthy';

interface Group {
  readonly weight: number;
  readonly priority: number;
  readonly hosts: readonly Host[];
}

/** Hosts with their shares, which are above 0 and add up to 1; none, if there is no host to be used. */
export function weightedHosts(
  cluster: Cluster,
  assignment: ClusterLoadAssignment,
  wanted: Metadata | undefined,
): readonly WeightedHost[] {
  const groups = subsetOf(cluster, (assignment.endpoints ?? []).map(groupOf), wanted);
  const highest = groups.reduce((max, { priority }) => Math.max(max, priority), -1);
  const byPriority = Array.from({ length: highest + 1 }, (_, p) => groups.filter(({ priority }) => priority === p));
  const loads = priorityLoads(byPriority.map(countsOf), {
    overprovisioning: assignment.policy?.overprovisioningFactor?.value ?? DEFAULT_OVERPROVISIONING,
    panicThreshold: cluster.commonLbConfig?.healthyPanicThreshold
      ? (cluster.commonLbConfig.healthyPanicThreshold.value ?? 0)
      : DEFAULT_PANIC_THRESHOLD,
  });
  const shares = byPriority.flatMap((inPriority, p) => sharesIn(cluster, inPriority, loads[p]!));
  const total = shares.reduce((sum, [weight]) => sum + weight, 0);
  return shares.flatMap(([weight, host]) => (weight > 0 ? [[weight / total, host] as const] : []));
}

function groupOf(given: LocalityLbEndpoints): Group {
  const { locality = {}, priority = 0, metadata, loadBalancingWeight } = given;
  const endpoints = given.lbEndpoints ?? given.loadBalancerEndpoints?.lbEndpoints ?? [];
  const hosts = endpoints.map((endpoint): Host => ({ endpoint, locality, localityMetadata: metadata, priority }));
  return { weight: loadBalancingWeight?.value ?? 0, priority, hosts };
}

export function healthOf({ endpoint }: Host): Health {
  switch (endpoint.healthStatus ?? HealthStatus.UNKNOWN) {
    case HealthStatus.UNKNOWN:
    case HealthStatus.HEALTHY:
      return 'healthy';
    case HealthStatus.DEGRADED:
      return 'degraded';
    default:
      return 'unhealthy';
  }
}

function countsOf(groups: readonly Group[]): { total: number; healthy: number; degraded: number } {
  const all = groups.flatMap(({ hosts }) => hosts);
  const count = (health: Health): number => all.filter(host => healthOf(host) === health).length;
  return { total: all.length, healthy: count('healthy'), degraded: count('degraded') };
}

function sharesIn(cluster: Cluster, groups: readonly Group[], load: PriorityLoad): readonly WeightedHost[] {
  if (load.panic) return spread(cluster, groups, load.healthy + load.degraded, () => true);
  return [
    ...spread(cluster, groups, load.healthy, host => healthOf(host) === 'healthy'),
    ...spread(cluster, groups, load.degraded, host => healthOf(host) === 'degraded'),
  ];
}

function spread(
  cluster: Cluster,
  groups: readonly Group[],
  load: number,
  usable: (host: Host) => boolean,
): readonly WeightedHost[] {
  if (load === 0) return [];
  const weighed = cluster.commonLbConfig?.localityWeightedLbConfig !== undefined;
  const parts = groups.map(group => ({
    hosts: group.hosts.filter(usable),
    weight: weighed ? effectiveWeight(group, usable) : 0,
  }));
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) {
    return byWeight(
      cluster,
      parts.flatMap(({ hosts }) => hosts),
      load,
    );
  }
  return parts.flatMap(({ hosts, weight }) => byWeight(cluster, hosts, (load * weight) / total));
}

/** A locality gives up load as its hosts fail, and keeps all of it while overprovisioning makes up for them. */
function effectiveWeight({ weight, hosts }: Group, usable: (host: Host) => boolean): number {
  if (hosts.length === 0) return 0;
  const share = hosts.filter(usable).length / hosts.length;
  return weight * Math.min(1, (DEFAULT_OVERPROVISIONING / 100) * share);
}

/** RANDOM does not look at weights. For hashing policies it is the share of all keys. */
function byWeight(cluster: Cluster, hosts: readonly Host[], load: number): readonly WeightedHost[] {
  const flat = cluster.lbPolicy === Cluster_LbPolicy.RANDOM;
  const weights = hosts.map(({ endpoint }) => (flat ? 1 : (endpoint.loadBalancingWeight?.value ?? 1)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return hosts.map((host, i) => [(load * weights[i]!) / total, host] as const);
}

const LB_NAMESPACE = 'envoy.lb';

/** The hosts of the subset that the route asks for, where the cluster knows subsets. */
function subsetOf(cluster: Cluster, groups: readonly Group[], wanted: Metadata | undefined): readonly Group[] {
  const config = cluster.lbSubsetConfig;
  if (config === undefined || (config.subsetSelectors ?? []).length === 0) return groups;
  const labels = wanted?.filterMetadata?.[LB_NAMESPACE] ?? {};
  const keys = Object.keys(labels).sort().join();
  const known = (config.subsetSelectors ?? []).some(selector => [...(selector.keys ?? [])].sort().join() === keys);
  const narrowed = (to: Readonly<Record<string, unknown>>): readonly Group[] =>
    groups.map(group => ({ ...group, hosts: group.hosts.filter(host => carries(host, to)) }));
  const found = known ? narrowed(labels) : [];
  if (found.some(({ hosts }) => hosts.length > 0)) return found;
  switch (config.fallbackPolicy ?? Fallback.NO_FALLBACK) {
    case Fallback.ANY_ENDPOINT:
      return groups;
    case Fallback.DEFAULT_SUBSET:
      return narrowed(config.defaultSubset ?? {});
    default:
      return [];
  }
}

function carries({ endpoint }: Host, labels: Readonly<Record<string, unknown>>): boolean {
  const own = endpoint.metadata?.filterMetadata?.[LB_NAMESPACE] ?? {};
  return Object.entries(labels).every(([key, value]) => own[key] === value);
}
