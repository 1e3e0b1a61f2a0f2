// The names that a proxy subscribes to once it has its clusters and listeners: what they refer to is what it asks for next.

import { type Cluster, Cluster_DiscoveryType, type Listener } from '../xds/proto/types.gen.ts';

/** Of endpoints; sorted, no repeats. */
export function endpointNames(clusters: readonly Cluster[]): readonly string[] {
  const names = clusters.flatMap(cluster =>
    cluster.type === Cluster_DiscoveryType.EDS ? [cluster.edsClusterConfig?.serviceName || (cluster.name ?? '')] : [],
  );
  return [...new Set(names)].sort();
}

/** Of route configurations, of every filter that names one; sorted, no repeats. */
export function routeNames(listeners: readonly Listener[]): readonly string[] {
  const names = new Set<string>();
  for (const { filterChains = [], defaultFilterChain } of listeners) {
    for (const chain of defaultFilterChain === undefined ? filterChains : [...filterChains, defaultFilterChain]) {
      for (const { typedConfig } of chain.filters ?? []) {
        const name = (typedConfig as { readonly rds?: { readonly routeConfigName?: string } } | undefined)?.rds
          ?.routeConfigName;
        if (name !== undefined) names.add(name);
      }
    }
  }
  return [...names].sort();
}
