// A limit on what subsets, ports and services multiply to. Every port of every service that a DestinationRule applies
// to has a cluster of each subset (Istio pilot/pkg/networking/core/cluster_builder.go, applyDestinationRule), so a rule
// and a Service that an API server stores, or a rule for a wildcard host, can make millions. The first subsets of a
// rule apply, as many as fit.

import { isWildcard, subsetOf } from '../../model/hosts.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { allServices, servicesOfHost } from '../../registry/services.ts';

/** Clusters of subsets that one rule makes. A proxy cannot ask for the endpoints of many more (`NAMES_MAX`). */
export const SUBSET_CLUSTERS_MAX = 20_000;

/**
 * Subsets of a rule for a wildcard host that apply however many services it names: what they make grows with the mesh
 * alone. Not where one service comes to the limit.
 */
export const SUBSETS_OF_WILDCARD_MIN = 16;

interface Ports {
  /** Of all services. */
  readonly total: number;
  /** Of the host that has the most. */
  readonly largest: number;
}

/** How many subsets a rule for the host may have in force, of the number that it has. */
export function subsetsInForce(reader: Reader, host: string, subsets: number): number {
  if (subsets === 0 || !isWildcard(host)) return Math.min(subsets, fitting(reader.get(portsOfHost, host)));
  // Most rules need no look at each service of the mesh.
  return subsets <= fitting(reader.get(portsOfHost, '*'))
    ? subsets
    : Math.min(subsets, fitting(reader.get(portsOfHost, host)));
}

function fitting({ total, largest }: Ports): number {
  const together = Math.max(SUBSETS_OF_WILDCARD_MIN, Math.floor(SUBSET_CLUSTERS_MAX / Math.max(1, total)));
  return Math.min(together, Math.floor(SUBSET_CLUSTERS_MAX / Math.max(1, largest)));
}

/** Argument: a host, or a wildcard. Ports of the services that it names. */
const portsOfHost: Query<string, Ports> = {
  name: 'scope/portsOfHost',
  run: (reader, host) => {
    const services = isWildcard(host) ? reader.get(allServices, '') : reader.get(servicesOfHost, host);
    const byHost = new Map<string, number>();
    let total = 0;
    for (const { hostname, ports } of services) {
      if (!subsetOf(hostname, host)) continue;
      total += ports.length;
      byHost.set(hostname, (byHost.get(hostname) ?? 0) + ports.length);
    }
    let largest = 0;
    for (const ports of byHost.values()) largest = Math.max(largest, ports);
    return { total, largest };
  },
};
