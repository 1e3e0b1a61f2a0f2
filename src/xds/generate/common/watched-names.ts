// The names that a proxy subscribes to after it has received clusters and listeners: those that they refer to.

import {
  type Cluster,
  Cluster_DiscoveryType,
  type HttpConnectionManager,
  type Listener,
} from '../../proto/types.gen.ts';

/** Names for EDS; sorted, without duplicates. */
export function endpointNames(clusters: readonly Cluster[]): readonly string[] {
  const names = clusters.flatMap(cluster =>
    cluster.type === Cluster_DiscoveryType.EDS ? [cluster.edsClusterConfig?.serviceName || (cluster.name ?? '')] : [],
  );
  return [...new Set(names)].sort();
}

/** Names for RDS, from every filter that has one; sorted, without duplicates. */
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

/** Names for ECDS, from every network and HTTP filter that has one; sorted, without duplicates. */
export function extensionNames(listeners: readonly Listener[]): readonly string[] {
  const names = new Set<string>();
  for (const { filterChains = [], defaultFilterChain } of listeners) {
    for (const chain of defaultFilterChain === undefined ? filterChains : [...filterChains, defaultFilterChain]) {
      for (const filter of chain.filters ?? []) {
        const { httpFilters = [] } = (filter.typedConfig ?? {}) as HttpConnectionManager;
        for (const { name = '', configDiscovery } of [filter, ...httpFilters]) {
          if (configDiscovery !== undefined) names.add(name);
        }
      }
    }
  }
  return [...names].sort();
}
