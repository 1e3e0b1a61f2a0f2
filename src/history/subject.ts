// The resource of a proxy that `explain` is about: a cluster, listener, route configuration, virtual host, endpoint
// or extension configuration.
// A subject finds itself at any state and knows which objects were read for it, so why, since when and what if are
// the same code for all of them.

import type { JsonObject } from '../core/base/json.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Resource } from '../core/model/resource.ts';
import type { Provenance } from '../core/query/provenance.ts';
import type { Query } from '../core/query/reader.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { allOf, namedOf } from '../offline/generate.ts';
import { resourceSource } from '../xds/assemble/types.ts';
import { watchedNames } from '../xds/generate/common/watched-names.ts';
import type { ClusterLoadAssignment, LbEndpoint, RouteConfiguration, VirtualHost } from '../xds/proto/types.gen.ts';
import { CDS, ECDS, EDS, LDS, RDS } from '../xds/session/types.ts';
import { shownJson, shownPart } from './config-dump.ts';

export interface Subject {
  /** e.g. `cluster outbound|9080||reviews.shop.svc.cluster.local` */
  readonly what: string;
  readonly typeUrl: string;
  /** Host that it is about; undefined: none. */
  readonly host?: string;
  readonly port?: number;
  readonly subset?: string;
  /** Its JSON; undefined: the proxy has none. */
  readonly answer: (tracker: Tracker, state: State, proxy: ProxyRecord) => JsonObject | undefined;
  /** What the proxy has of that type, by the names under which it could be asked for. */
  readonly names: (tracker: Tracker, state: State, proxy: ProxyRecord) => readonly string[];
  /** The reads of the answer, those without a result included. */
  readonly provenance: (tracker: Tracker, state: State, proxy: ProxyRecord) => Provenance;
}

type Made = readonly Resource<object>[];
const NOTHING: Provenance = { found: [], missed: [] };

/** The read set of one of many; of all of them if it is not there. */
function partOf(tracker: Tracker, state: State, proxy: ProxyRecord, url: string, name: string): Provenance {
  const query = resourceSource(url)?.all as unknown as Query<string, Made> | undefined;
  if (query === undefined) return NOTHING;
  const resource = tracker.get(state, proxy, query, '').find(made => made.name === name);
  const holds = (value: unknown): boolean => value === resource || (Array.isArray(value) && value.includes(resource));
  return tracker.provenance(state, proxy, query, '', resource === undefined ? undefined : holds);
}

function namedProvenance(tracker: Tracker, state: State, proxy: ProxyRecord, url: string, name: string): Provenance {
  const query = resourceSource(url)?.named;
  return query === undefined ? NOTHING : tracker.provenance(state, proxy, query as Query<string, unknown>, name);
}

export function clusterSubject(name: string): Subject {
  const [direction, port, subset, host] = name.split('|');
  const isService = direction === 'outbound' && host !== undefined;
  return {
    what: `cluster ${name}`,
    typeUrl: CDS,
    names: (tracker, state, proxy) => allOf(tracker, state, proxy, CDS).map(made => made.name),
    ...(isService ? { host, port: Number(port), subset: subset ?? '' } : {}),
    answer: (tracker, state, proxy) => {
      const found = allOf(tracker, state, proxy, CDS).find(made => made.name === name);
      return found === undefined ? undefined : shownJson(CDS, found);
    },
    provenance: (tracker, state, proxy) => {
      const found = allOf(tracker, state, proxy, CDS).some(made => made.name === name);
      // An absent cluster: its endpoints are searched in the same places.
      return found ? partOf(tracker, state, proxy, CDS, name) : namedProvenance(tracker, state, proxy, EDS, name);
    },
  };
}

export function listenerSubject(name: string): Subject {
  return {
    what: `listener ${name}`,
    typeUrl: LDS,
    names: (tracker, state, proxy) => allOf(tracker, state, proxy, LDS).map(made => made.name),
    answer: (tracker, state, proxy) => {
      const found = allOf(tracker, state, proxy, LDS).find(made => made.name === name);
      return found === undefined ? undefined : shownJson(LDS, found);
    },
    provenance: (tracker, state, proxy) => partOf(tracker, state, proxy, LDS, name),
  };
}

/** `name`: that of the filter, e.g. `extensions.istio.io/trafficextension/shop.auth~istio-translated-wasmplugin`. */
export function extensionSubject(name: string): Subject {
  return {
    what: `extension configuration ${name}`,
    typeUrl: ECDS,
    names: (tracker, state, proxy) =>
      allOf(tracker, state, proxy, LDS).flatMap(({ message }) => watchedNames(message).extensions),
    answer: (tracker, state, proxy) => {
      const asked = allOf(tracker, state, proxy, LDS).some(({ message }) =>
        watchedNames(message).extensions.includes(name),
      );
      const found = asked ? namedOf(tracker, state, proxy, ECDS, name) : undefined;
      return found === undefined ? undefined : shownJson(ECDS, found);
    },
    provenance: (tracker, state, proxy) => namedProvenance(tracker, state, proxy, ECDS, name),
  };
}

export function routeSubject(name: string): Subject {
  return {
    what: `route configuration ${name}`,
    typeUrl: RDS,
    names: routeNamesOf,
    answer: (tracker, state, proxy) => {
      if (!routeNamesOf(tracker, state, proxy).includes(name)) return undefined;
      const found = namedOf(tracker, state, proxy, RDS, name);
      return found === undefined ? undefined : shownJson(RDS, found);
    },
    provenance: (tracker, state, proxy) => namedProvenance(tracker, state, proxy, RDS, name),
  };
}

/** The route configurations that the proxy's listeners ask for. */
function routeNamesOf(tracker: Tracker, state: State, proxy: ProxyRecord): readonly string[] {
  const names = allOf(tracker, state, proxy, LDS).flatMap(({ message }) => watchedNames(message).routes);
  return [...new Set(names)].sort();
}

/** `host`: a name or domain of the virtual host, with or without port. `route`: only in this route configuration. */
export function virtualHostSubject(host: string, route?: string): Subject {
  const [bare = host, number] = splitPort(host);
  const routes = (tracker: Tracker, state: State, proxy: ProxyRecord): readonly string[] =>
    route === undefined ? routeNamesOf(tracker, state, proxy) : [route];
  return {
    what: route === undefined ? `virtual host ${host}` : `virtual host ${host} of route ${route}`,
    typeUrl: RDS,
    names: (tracker, state, proxy) =>
      routes(tracker, state, proxy).flatMap(name => {
        const resource = namedOf(tracker, state, proxy, RDS, name);
        return resource === undefined ? [] : hostNamesIn(resource.message);
      }),
    host: bare,
    ...(number === undefined ? {} : { port: number }),
    answer: (tracker, state, proxy) => {
      for (const name of routes(tracker, state, proxy)) {
        const found = virtualHostIn(namedOf(tracker, state, proxy, RDS, name), host);
        if (found !== undefined) return shownPart('envoy.config.route.v3.VirtualHost', found);
      }
      return undefined;
    },
    provenance: (tracker, state, proxy) => {
      const all = routes(tracker, state, proxy).map(name => ({
        name,
        part: virtualHostIn(namedOf(tracker, state, proxy, RDS, name), host),
      }));
      const holding = all.find(({ part }) => part !== undefined);
      if (holding === undefined) return union(all.map(({ name }) => namedProvenance(tracker, state, proxy, RDS, name)));
      const { name, part } = holding;
      const holds = (value: unknown): boolean => value === part || (Array.isArray(value) && value.includes(part));
      const query = resourceSource(RDS)!.named as Query<string, unknown>;
      return tracker.provenance(state, proxy, query, name, holds);
    },
  };
}

function hostNamesIn(message: object): readonly string[] {
  const { virtualHosts = [] } = message as { readonly virtualHosts?: readonly { readonly name?: string }[] };
  return virtualHosts.map(({ name = '' }) => name);
}

function splitPort(host: string): readonly [string, number | undefined] {
  const match = /^(.+):([0-9]+)$/.exec(host);
  return match === null ? [host, undefined] : [match[1]!, Number(match[2])];
}

/** By its name, by a domain, or by its name without the port. */
function virtualHostIn(route: Resource<object> | undefined, host: string): VirtualHost | undefined {
  const { virtualHosts: hosts = [] }: RouteConfiguration = route?.message ?? {};
  return (
    hosts.find(one => one.name === host) ??
    hosts.find(one => one.domains?.includes(host)) ??
    hosts.find(one => one.name !== undefined && splitPort(one.name)[0] === host)
  );
}

/** `address`: `10.1.2.3` or `10.1.2.3:9080`. `cluster`: only of this one. */
export function endpointSubject(address: string, cluster?: string): Subject {
  const clusters = (tracker: Tracker, state: State, proxy: ProxyRecord): readonly string[] => {
    if (cluster !== undefined) return [cluster];
    return allOf(tracker, state, proxy, CDS).flatMap(({ message }) => watchedNames(message).endpoints);
  };
  const among = (tracker: Tracker, state: State, proxy: ProxyRecord): ReadonlyMap<string, JsonObject> => {
    const found = new Map<string, JsonObject>();
    for (const name of clusters(tracker, state, proxy)) {
      const resource = namedOf(tracker, state, proxy, EDS, name);
      const endpoint = resource === undefined ? undefined : endpointIn(resource.message, address);
      if (endpoint !== undefined) found.set(name, shownPart('envoy.config.endpoint.v3.LbEndpoint', endpoint));
    }
    return found;
  };
  return {
    what: cluster === undefined ? `endpoint ${address}` : `endpoint ${address} of cluster ${cluster}`,
    typeUrl: EDS,
    names: (tracker, state, proxy) =>
      clusters(tracker, state, proxy).flatMap(name => {
        const resource = namedOf(tracker, state, proxy, EDS, name);
        return resource === undefined ? [] : addressesIn(resource.message);
      }),
    answer: (tracker, state, proxy) => {
      const found = among(tracker, state, proxy);
      return found.size === 0 ? undefined : Object.fromEntries(found);
    },
    provenance: (tracker, state, proxy) => {
      const found = [...among(tracker, state, proxy).keys()];
      const names = found.length > 0 ? found : clusters(tracker, state, proxy);
      return union(names.map(name => namedProvenance(tracker, state, proxy, EDS, name)));
    },
  };
}

function endpointIn(assignment: ClusterLoadAssignment, address: string): LbEndpoint | undefined {
  for (const { lbEndpoints = [] } of assignment.endpoints ?? []) {
    const found = lbEndpoints.find(one => namesOfEndpoint(one).includes(address));
    if (found !== undefined) return found;
  }
  return undefined;
}

function addressesIn(assignment: ClusterLoadAssignment): readonly string[] {
  return (assignment.endpoints ?? []).flatMap(({ lbEndpoints = [] }) =>
    lbEndpoints.flatMap(one => namesOfEndpoint(one).slice(0, 1)),
  );
}

/** `address:port`, then the address alone; none of an endpoint that is no socket. */
function namesOfEndpoint({ endpoint }: LbEndpoint): readonly string[] {
  const at = endpoint?.address?.socketAddress;
  return at?.address === undefined ? [] : [`${at.address}:${at.portValue ?? 0}`, at.address];
}

function union(all: readonly Provenance[]): Provenance {
  const found = new Set(all.flatMap(one => one.found));
  const missed = new Set(all.flatMap(one => one.missed));
  return { found: [...found].sort(), missed: [...missed].sort() };
}
