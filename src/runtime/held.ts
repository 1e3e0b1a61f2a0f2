// All that one proxy would hold and that decides where it sends traffic, as generated messages: the input of the routing oracle.

import type { ProxyRecord } from '../core/proxy.ts';
import type { State } from '../core/state.ts';
import type { Tracker } from '../core/track.ts';
import {
  type Cluster,
  Cluster_DiscoveryType,
  type ClusterLoadAssignment,
  type Listener,
  type RouteConfiguration,
} from '../xds/proto/types.gen.ts';
import { CDS, EDS, LDS, RDS } from '../xds/session/types.ts';
import { allOf, namedOf } from './offline.ts';

/** Each list in the order of generation; what a subscription would name is there, if it exists. */
export interface Held {
  readonly listeners: readonly Listener[];
  readonly routes: readonly RouteConfiguration[];
  readonly clusters: readonly Cluster[];
  readonly endpoints: readonly ClusterLoadAssignment[];
}

export function heldBy(tracker: Tracker, state: State, proxy: ProxyRecord): Held {
  const all = <T>(url: string): readonly T[] => allOf(tracker, state, proxy, url).map(({ message }) => message as T);
  const named = <T>(url: string, names: ReadonlySet<string>): readonly T[] =>
    [...names].flatMap(name => {
      const found = namedOf(tracker, state, proxy, url, name);
      return found === undefined ? [] : [found.message as T];
    });
  const [clusters, listeners] = [all<Cluster>(CDS), all<Listener>(LDS)];
  const assignments = clusters.flatMap(cluster =>
    cluster.type === Cluster_DiscoveryType.EDS ? [cluster.edsClusterConfig?.serviceName || (cluster.name ?? '')] : [],
  );
  return {
    listeners,
    clusters,
    routes: named(RDS, routeNames(listeners)),
    endpoints: named(EDS, new Set(assignments)),
  };
}

function routeNames(listeners: readonly Listener[]): ReadonlySet<string> {
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
  return names;
}
