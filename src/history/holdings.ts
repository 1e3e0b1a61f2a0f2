// The resources of a proxy that has settled at a state: clusters and listeners, and the endpoints, routes, secrets and
// extension configurations that they name, collected as Envoy requests them. Not the recorded subscriptions: those lag
// behind a change, and a what-if has none at all.

import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Resource } from '../core/model/resource.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { allOf, namedOf } from '../offline/generate.ts';
import { watchedNames } from '../xds/generate/common/watched-names.ts';
import { CDS, ECDS, EDS, LDS, NDS, RDS, SDS } from '../xds/session/types.ts';

/** Resources by name, in name order. */
export type HeldOfType = ReadonlyMap<string, Resource<object>>;

/** By type URL, in the order in which they are pushed. */
export type Holdings = ReadonlyMap<string, HeldOfType>;

/** The types in proxy-config, explain and diff, in push order. */
export const HELD_TYPES: readonly string[] = [CDS, EDS, LDS, RDS, SDS, ECDS, NDS];

/**
 * Equal holdings share their resources by identity: comparing two positions of one tracker costs what differs. `types`:
 * only of these, and only what they need is made.
 */
export function holdingsOf(
  tracker: Tracker,
  state: State,
  proxy: ProxyRecord,
  types: readonly string[] = HELD_TYPES,
): Holdings {
  const needs = (...of: readonly string[]): boolean => of.some(type => types.includes(type));
  const clusters = needs(CDS, EDS, SDS) ? allOf(tracker, state, proxy, CDS) : [];
  const listeners = needs(LDS, RDS, SDS, ECDS) ? allOf(tracker, state, proxy, LDS) : [];
  const wanted = {
    endpoints: new Set<string>(),
    routes: new Set<string>(),
    secrets: new Set<string>(),
    extensions: new Set<string>(),
  };
  for (const { message } of [...clusters, ...listeners]) {
    const names = watchedNames(message);
    for (const name of names.endpoints) wanted.endpoints.add(name);
    for (const name of names.routes) wanted.routes.add(name);
    for (const name of names.secrets) wanted.secrets.add(name);
    for (const name of names.extensions) wanted.extensions.add(name);
  }
  const held = (url: string): HeldOfType => {
    if (url === CDS) return byName(clusters);
    if (url === LDS) return byName(listeners);
    if (url === EDS) return named(tracker, state, proxy, EDS, wanted.endpoints);
    if (url === RDS) return named(tracker, state, proxy, RDS, wanted.routes);
    if (url === SDS) return named(tracker, state, proxy, SDS, wanted.secrets);
    if (url === ECDS) return named(tracker, state, proxy, ECDS, wanted.extensions);
    const capture = proxy.metadata.DNS_CAPTURE;
    return capture === true || capture === 'true' ? byName(allOf(tracker, state, proxy, NDS)) : new Map();
  };
  return new Map(HELD_TYPES.filter(url => types.includes(url)).map(url => [url, held(url)]));
}

function named(
  tracker: Tracker,
  state: State,
  proxy: ProxyRecord,
  url: string,
  names: ReadonlySet<string>,
): HeldOfType {
  const found = [...names].map(name => namedOf(tracker, state, proxy, url, name));
  return byName(found.filter(resource => resource !== undefined));
}

/** In name order; of several with one name the first counts. */
export function byName(resources: readonly Resource<object>[]): HeldOfType {
  const found = new Map<string, Resource<object>>();
  for (const resource of [...resources].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))) {
    if (!found.has(resource.name)) found.set(resource.name, resource);
  }
  return found;
}
