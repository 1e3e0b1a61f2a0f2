// Limits on what hosts, matches and destinations of HTTP rules multiply to. Every match becomes a route with all
// destinations of its rule, in each host's virtual host, so two objects that an API server stores can make gigabytes.
// One VirtualService past the limit is refused (kinds/istio/validate/http-route.ts); here are the products that no
// object shows alone: rules taken in by delegation, and all VirtualServices together, those of routes of the Gateway
// API among them.
//
// The oldest objects come first, so a new one past a limit leaves what is served as it is.

import { ROUTE_DESTINATIONS_MAX, routeDestinations } from '../../kinds/istio/validate/http-route.ts';
import { exportsOf, isVisibleIn } from '../../model/exports.ts';
import { byAge } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import type { ObjOf } from './specs.ts';

/** Of all VirtualServices of the mesh together, some 200 MB in a proxy that has them all. */
export const MESH_ROUTE_DESTINATIONS_MAX = 4_000_000;

export interface Sized {
  readonly obj: ObjOf<'VirtualService'>;
  /** Of its rules, those of delegates among them, times its hosts. */
  readonly routeDestinations: number;
}

export interface Within<T> {
  readonly fitting: readonly T[];
  readonly past: readonly T[];
}

/** Those that fit, in their order, and those that are left out. A smaller one may fit after one that does not. */
export function within<T>(all: readonly T[], most: number, sizeOf: (one: T) => number): Within<T> {
  const fitting: T[] = [];
  const past: T[] = [];
  let left = most;
  for (const one of all) {
    const size = sizeOf(one);
    if (size > left) past.push(one);
    else {
      left -= size;
      fitting.push(one);
    }
  }
  return past.length === 0 ? { fitting: all, past } : { fitting, past };
}

export function withinMeshLimit<T extends Sized>(all: readonly T[], most = MESH_ROUTE_DESTINATIONS_MAX): Within<T> {
  return within(all, most, ({ routeDestinations }) => routeDestinations);
}

/** Argument `namespace/name` of a root. Matches of its rules by the delegate that they name, `namespace/name`. */
const matchesByDelegate: Query<string, ReadonlyMap<string, number>> = {
  name: 'scope/matchesByDelegate',
  run: (reader, key) => {
    const found = new Map<string, number>();
    const root = reader.object('VirtualService', key);
    for (const { delegate, match = [] } of root?.spec.http ?? []) {
      if (!delegate?.name) continue;
      const leaf = `${delegate.namespace || root!.namespace}/${delegate.name}`;
      found.set(leaf, (found.get(leaf) ?? 0) + Math.max(1, match.length));
    }
    return found;
  },
};

/**
 * Argument `namespace/name` of a delegate. The roots, by `namespace/name`, that do not take its rules in, because those
 * before them have made as many routes times destinations of them as one VirtualService may have.
 */
export const rootsPastLimit: Query<string, readonly string[]> = {
  name: 'scope/rootsPastLimit',
  run: (reader, key) => {
    const roots = reader.indexed('virtualServicesByDelegate', key);
    const leaf = reader.object('VirtualService', key);
    if (roots.length === 0 || leaf === undefined) return [];
    const exports = exportsOf(leaf.spec.exportTo, reader.mesh('defaultVirtualServiceExportTo'), leaf.namespace);
    const own = routeDestinations(leaf.spec.http);
    const past: string[] = [];
    let left = ROUTE_DESTINATIONS_MAX;
    for (const { namespace, name } of [...roots].sort(byAge)) {
      if (!isVisibleIn(exports, leaf.namespace, namespace)) continue;
      const root = `${namespace}/${name}`;
      const sum = own * (reader.get(matchesByDelegate, root).get(key) ?? 0);
      if (sum > left) past.push(root);
      else left -= sum;
    }
    return past;
  },
};
