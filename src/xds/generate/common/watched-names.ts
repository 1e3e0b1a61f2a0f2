// The names that a proxy subscribes to after it has received clusters and listeners: those that they refer to.
//
// Invariant: a name is found wherever it stands in a message (a filter of a chain, an API listener, a filter that a
// patch added), because the message is walked as Envoy reads it, not by the places that our generators fill. Generated
// messages never change, so each is walked once.

import { isObject } from '../../../core/base/json.ts';
import { type Cluster, Cluster_DiscoveryType, type Listener } from '../../proto/types.gen.ts';

/** What one cluster or listener refers to on the same stream; each without duplicates, in the order of the message. */
export interface WatchedNames {
  /** EDS. */
  readonly endpoints: readonly string[];
  /** RDS. */
  readonly routes: readonly string[];
  /** SDS. */
  readonly secrets: readonly string[];
  /** ECDS: names of filters whose configuration is a resource of its own. */
  readonly extensions: readonly string[];
}

const memo = new WeakMap<object, WatchedNames>();

/** Maps of texts with this many members and more are walked once, whichever messages share them. */
const LARGE_MAP = 64;
/** Large objects that refer to nothing. */
const leaves = new WeakSet<object>();

export function watchedNames(message: object): WatchedNames {
  const known = memo.get(message);
  if (known !== undefined) return known;
  const routes = new Set<string>();
  const secrets = new Set<string>();
  const extensions = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    else if (isObject(value) && !leaves.has(value)) {
      const { name, rds, sdsConfig, configDiscovery } = value;
      if (isObject(rds) && typeof rds.routeConfigName === 'string') routes.add(rds.routeConfigName);
      if (isObject(sdsConfig) && sdsConfig.ads !== undefined && typeof name === 'string') secrets.add(name);
      if (isObject(configDiscovery) && typeof name === 'string') extensions.add(name);
      const members = Object.values(value);
      const objects = members.filter(member => typeof member === 'object');
      if (objects.length === 0 && members.length >= LARGE_MAP) leaves.add(value);
      for (const member of objects) visit(member);
    }
  };
  visit(message);
  const names = {
    endpoints: endpointsOf(message as Cluster),
    routes: [...routes],
    secrets: [...secrets],
    extensions: [...extensions],
  };
  memo.set(message, names);
  return names;
}

/** Names for EDS; sorted, without duplicates. */
export function endpointNames(clusters: readonly Cluster[]): readonly string[] {
  return sorted(clusters.flatMap(endpointsOf));
}

/** Names for RDS; sorted, without duplicates. */
export function routeNames(listeners: readonly Listener[]): readonly string[] {
  return sorted(listeners.flatMap(listener => watchedNames(listener).routes));
}

/** Names for ECDS, of network and HTTP filters; sorted, without duplicates. */
export function extensionNames(listeners: readonly Listener[]): readonly string[] {
  return sorted(listeners.flatMap(listener => watchedNames(listener).extensions));
}

/** The name for EDS, if the cluster has its endpoints from there: as watchedNames, without a walk. */
export function endpointsOf({ type, name, edsClusterConfig }: Cluster): readonly string[] {
  return type === Cluster_DiscoveryType.EDS ? [edsClusterConfig?.serviceName || (name ?? '')] : [];
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
