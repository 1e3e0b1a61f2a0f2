// Patches of a route configuration in three steps, each memoised by what it depends on, so that only a changed virtual
// host is patched again: the configuration itself, each virtual host with its routes, and the whole.
// Source: Istio pilot/pkg/networking/core/envoyfilter/rc_patch.go (ApplyRouteConfigurationPatches).

import type { Generator } from '../../../core/query/memo.ts';
import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import type { RoutePatches } from '../../../core/select/patch/proxy-patches.ts';
import type { Route, RouteConfiguration, VirtualHost } from '../../proto/types.gen.ts';
import { patchList } from './filter-list.ts';
import { mergeMessage } from './merge.ts';
import { Outcome, type Patched, patchWork } from './outcome.ts';
import { isForConfiguration, isForVirtualHost, routeOf } from './route-match.ts';

const ROUTE_CONFIGURATION = 'envoy.config.route.v3.RouteConfiguration';
const VIRTUAL_HOST = 'envoy.config.route.v3.VirtualHost';
const ROUTE = 'envoy.config.route.v3.Route';

export interface ConfigurationInputs {
  readonly configuration: RouteConfiguration;
  readonly patches: RoutePatches;
  /** Of a gateway's: the ports of its servers. */
  readonly serverPorts: readonly number[] | undefined;
}

export interface PatchedConfiguration extends Patched<RouteConfiguration> {
  readonly result: RouteConfiguration;
  /** The merges into it that acted. */
  readonly merged: readonly EnvoyPatch[];
  /** For its virtual hosts and routes; undefined: there are none. */
  readonly hostPatches: HostPatches | undefined;
  /** Virtual hosts that are added. */
  readonly added: readonly EnvoyPatch[];
}

export type HostPatches = Pick<RoutePatches, 'virtualHost' | 'route'>;

/** Merges into the configuration, which may give it another name, and the patches that are for that name. */
export const patchedConfiguration: Generator<ConfigurationInputs, PatchedConfiguration> = {
  name: 'patch/routeConfiguration',
  work: patchWork,
  run: ({ configuration, patches, serverPorts }) => {
    const outcome = new Outcome(patches.configuration, patches.virtualHost);
    let result = configuration;
    const isFor = (patch: EnvoyPatch): boolean => isForConfiguration(patch, result.name ?? '', serverPorts);
    const merged: EnvoyPatch[] = [];
    for (const patch of patches.configuration) {
      if (!isFor(patch)) continue;
      outcome.acted(patch);
      merged.push(patch);
      result = mergeMessage(ROUTE_CONFIGURATION, result, patch.value, outcome.grown);
    }
    const virtualHost = patches.virtualHost.filter(isFor);
    const added = virtualHost.filter(({ operation }) => operation === 'ADD');
    for (const patch of added) outcome.acted(patch);
    const hostPatches = {
      virtualHost: virtualHost.filter(({ operation }) => operation !== 'ADD'),
      route: patches.route.filter(isFor),
    };
    const isEmpty = hostPatches.virtualHost.length === 0 && hostPatches.route.length === 0;
    return { ...outcome.of(result), result, merged, hostPatches: isEmpty ? undefined : hostPatches, added };
  },
};

/** `result`: undefined, it is removed. */
export interface PatchedHost extends Patched<VirtualHost> {
  /** The name under which it is removed. */
  readonly removed: string | undefined;
}

export const patchedHost: Generator<
  { readonly host: VirtualHost; readonly virtualHost: readonly EnvoyPatch[]; readonly route: readonly EnvoyPatch[] },
  PatchedHost
> = {
  name: 'patch/virtualHost',
  work: patchWork,
  run: ({ host, virtualHost, route }) => {
    const outcome = new Outcome(virtualHost, route);
    let result = host;
    for (const patch of virtualHost) {
      if (!isForVirtualHost(patch, result)) continue;
      outcome.acted(patch);
      if (patch.operation === 'REMOVE') {
        return { ...outcome.of<VirtualHost>(undefined), removed: result.name ?? '' };
      }
      if (patch.operation === 'REPLACE') result = patch.value as VirtualHost;
      else result = mergeMessage(VIRTUAL_HOST, result, patch.value, outcome.grown);
    }
    return { ...outcome.of(patchRoutes(result, route, outcome)), removed: undefined };
  },
};

/** Merges and removals of each route come first, then additions, in the order of the patches. */
function patchRoutes(host: VirtualHost, patches: readonly EnvoyPatch[], outcome: Outcome): VirtualHost {
  const mine = patches.filter(patch => isForVirtualHost(patch, host));
  if (mine.length === 0) return host;
  const { routes: before = [] } = host;
  const kept = before.map(route => patchRoute(route, mine, outcome)).filter(route => route !== undefined);
  let routes: readonly Route[] = kept;
  for (const patch of mine) routes = insertRoute(routes, patch, outcome);
  const same = routes === kept && kept.length === before.length && kept.every((route, i) => route === before[i]);
  return same ? host : { ...host, routes };
}

/** undefined: it is removed. */
function patchRoute(route: Route, patches: readonly EnvoyPatch[], outcome: Outcome): Route | undefined {
  let out = route;
  for (const patch of patches) {
    if ((patch.operation !== 'MERGE' && patch.operation !== 'REMOVE') || routeOf(patch)?.(out) === false) continue;
    outcome.acted(patch);
    if (patch.operation === 'REMOVE') return undefined;
    out = mergeMessage(ROUTE, out, patch.value, outcome.grown);
  }
  return out;
}

/** An insertion at the top needs a route that matches too, if the match names one. */
function insertRoute(routes: readonly Route[], patch: EnvoyPatch, outcome: Outcome): readonly Route[] {
  const anchor = routeOf(patch);
  switch (patch.operation) {
    case 'INSERT_FIRST':
      return anchor !== undefined && !routes.some(anchor) ? routes : patchList(routes, patch, anchor, outcome);
    case 'ADD':
    case 'INSERT_BEFORE':
    case 'INSERT_AFTER':
      return patchList(routes, patch, anchor, outcome);
    default:
      return routes;
  }
}

export interface AssembledInputs {
  readonly configuration: RouteConfiguration;
  /** In place of its own. */
  readonly hosts: readonly VirtualHost[];
  readonly added: readonly EnvoyPatch[];
  /** Names under which virtual hosts were removed: those that are added under them are not there either. */
  readonly removed: readonly string[];
}

export const assembledConfiguration: Generator<AssembledInputs, RouteConfiguration> = {
  name: 'patch/assembledConfiguration',
  run: ({ configuration, hosts, added, removed }) => {
    const all = [...hosts, ...added.map(patch => patch.value as VirtualHost)];
    const gone = new Set(removed);
    const virtualHosts = all.filter(({ name = '' }) => !gone.has(name));
    return { ...configuration, virtualHosts };
  },
};
