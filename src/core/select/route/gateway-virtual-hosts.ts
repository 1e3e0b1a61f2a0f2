// Which virtual hosts the route configuration of a gateway's servers has, and the VirtualServices that each is made of,
// in order.
//
// Unlike on sidecars, VirtualServices on one host are joined, not shadowed. The routes of a VirtualService are made
// once per Gateway within a route configuration, so what depends on the port is that of the first server (Istio does
// the same; tests of ours hold it).
// Source: Istio pilot/pkg/networking/core/gateway.go.

import { groupsOf } from '../../base/groups.ts';
import { hostIndexOf } from '../../model/host-index.ts';
import { subsetOf } from '../../model/hosts.ts';
import type { Service } from '../../model/service.ts';
import type { Generator } from '../../query/memo.ts';
import type { ProxyReader, Query, Selection } from '../../query/reader.ts';
import { type MergedServer, mergedGateway } from '../gateway/gateways.ts';
import { servicesByNamespace } from '../scope/scope-services.ts';
import { scopeService } from '../scope/sidecar-scope.ts';
import { type ResolvedVirtualService, virtualServicesFor } from '../scope/virtual-services.ts';
import { isVisible } from '../scope/visibility.ts';
import { collapsedHosts, collapsedMany, type GatewayVirtualHost, type ManyHosts } from './collapsed-hosts.ts';
import { sessionOf } from './persistent-session.ts';
import {
  inferFrom,
  type RoutePlace,
  type VirtualServiceRoutesInputs,
  virtualServiceRoutesInputs,
} from './virtual-service-routes.ts';

export interface GatewayVirtualHosts {
  /** Declared port of the first server of the route. */
  readonly port: number;
  readonly hosts: readonly GatewayVirtualHost[];
}

/** Argument: the name of a route configuration. undefined: no server of the proxy's Gateways has that name. */
export const gatewayVirtualHosts: Query<string, GatewayVirtualHosts | undefined> = {
  name: 'select/gatewayVirtualHosts',
  run: (reader, routeName) => {
    const { routes } = reader.get(mergedGateway, '');
    const servers = Object.hasOwn(routes, routeName) ? routes[routeName]! : [];
    const [first] = servers;
    if (first === undefined) return undefined;
    const many = isLong(reader, servers) ? reader.get(manyHosts, routeName) : undefined;
    const hosts = many?.hosts ?? openHosts(reader, servers);
    const port = declaredPort(first);
    const collapse = hosts.length > 1 && reader.feature('PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION');
    if (!collapse) return { port, hosts };
    return { port, hosts: many === undefined ? collapsedHosts(hosts) : collapsedMany(reader, many) };
  },
};

/** VirtualServices have more hosts than one run goes through. */
function isLong(reader: ProxyReader, servers: readonly MergedServer[]): boolean {
  let hosts = 0;
  for (const gateway of new Set(servers.map(({ gatewayName }) => gatewayName))) {
    hosts += hostsOf(virtualServicesAt(reader, gateway));
  }
  return hosts > HOSTS_TOGETHER_MAX;
}

const HOSTS_TOGETHER_MAX = 4_096;

function hostsOf(virtualServices: readonly ResolvedVirtualService[]): number {
  let count = 0;
  for (const { hosts } of virtualServices) count += hosts.length;
  return count;
}

function virtualServicesAt(reader: ProxyReader, gateway: string): readonly ResolvedVirtualService[] {
  return reader.get(virtualServicesFor, { namespace: reader.facet('namespace'), gateway });
}

/** Argument: the name of a route configuration. */
const manyHosts: Query<string, ManyHosts> = {
  name: 'select/manyGatewayHosts',
  run: (reader, routeName) => ({ hosts: reader.get(listOfManyHosts, routeName) }),
};

/** A list, so that the run is charged by its length. */
const listOfManyHosts: Query<string, readonly OpenHost[]> = {
  name: 'select/listOfManyGatewayHosts',
  run: (reader, routeName) => openHosts(reader, reader.get(mergedGateway, '').routes[routeName]!),
};

function openHosts(reader: ProxyReader, servers: readonly MergedServer[]): readonly OpenHost[] {
  const hosts = new Map<string, OpenHost>();
  const http3 = servers.some(server => server.http3);
  const byGateway = groupsOf(servers, ({ gatewayName }) => gatewayName);
  for (const merged of servers) {
    addServer(reader, { merged, beside: byGateway.get(merged.gatewayName)!, http3 }, hosts);
  }
  return [...hosts.values()];
}

/** A VirtualService at a server. */
interface Place {
  readonly virtualService: ResolvedVirtualService;
  readonly merged: MergedServer;
  /** All servers of the Gateway in the route configuration. */
  readonly beside: readonly MergedServer[];
  readonly http3: boolean;
}

interface PlacedRoutes {
  readonly hosts: readonly string[];
  /** Of each host; empty if there are none at all. */
  readonly sessions: readonly string[];
  /** Empty hosts if there are none. */
  readonly routes: VirtualServiceRoutesInputs | undefined;
}

const placedRoutes: Selection<Place, PlacedRoutes> = {
  name: 'select/placedRoutes',
  run: routesPlaced,
};

/** VirtualServices of a Gateway that are placed anew by every run. */
const FEW = 16;

function routesPlaced(reader: ProxyReader, { virtualService, merged, beside, http3 }: Place): PlacedRoutes {
  const hosts = lowerHosts(reader, merged, virtualService);
  if (hosts.length === 0) return NOWHERE;
  const routes =
    beside.length === 1
      ? routesOf(reader, { virtualService, at: merged, http3 })
      : firstRoutes(reader, { virtualService, merged, beside, http3 });
  if (routes === undefined) return NOWHERE;
  return { hosts, sessions: sessionsOf(reader, hosts, virtualService), routes };
}

/** Those of the first server that has a host in common and where a rule applies. */
function firstRoutes(
  reader: ProxyReader,
  { virtualService, merged, beside, http3 }: Place,
): VirtualServiceRoutesInputs | undefined {
  for (const at of beside) {
    if (at !== merged && hostsAt(at, virtualService).length === 0) continue;
    const routes = reader.select(routesAt, { virtualService, at, http3 });
    if (routes !== undefined || at === merged) return routes;
  }
  return undefined;
}

interface RoutesPlace {
  readonly virtualService: ResolvedVirtualService;
  readonly at: MergedServer;
  readonly http3: boolean;
}

/** One object for all servers of a Gateway, so that hosts with the same routes can be joined. */
const routesAt: Selection<RoutesPlace, VirtualServiceRoutesInputs | undefined> = {
  name: 'select/routesAtServer',
  run: routesOf,
};

function routesOf(
  reader: ProxyReader,
  { virtualService, at, http3 }: RoutesPlace,
): VirtualServiceRoutesInputs | undefined {
  return virtualServiceRoutesInputs(reader, virtualService, placeOf(reader, at, http3, virtualService));
}

/** In small letters. */
function lowerHosts(reader: ProxyReader, { server }: MergedServer, of: ResolvedVirtualService): readonly string[] {
  const at = { server, virtualService: of };
  return of.hosts.length > HOSTS_TOGETHER_MAX ? reader.make(manyLowerHosts, at) : manyLowerHosts.run(at);
}

interface HostsPlace {
  readonly server: MergedServer['server'];
  readonly virtualService: ResolvedVirtualService;
}

const manyLowerHosts: Generator<HostsPlace, readonly string[]> = {
  name: 'select/manyLowerHosts',
  run: ({ server, virtualService }) => sharedHosts(server.hosts ?? [], virtualService).map(host => host.toLowerCase()),
  work: ({ length }) => length / HOSTS_PER_WORK_UNIT,
};

/** Hosts that are gone through in about the time of one run of a query. */
const HOSTS_PER_WORK_UNIT = 100;

function hostsAt({ server }: MergedServer, virtualService: ResolvedVirtualService): readonly string[] {
  return sharedHosts(server.hosts ?? [], virtualService);
}

const NOWHERE: PlacedRoutes = { hosts: [], sessions: [], routes: undefined };

/** One object for each VirtualService at a server: a later run then finds the calls of this one without a look-up. */
const places = new WeakMap<ResolvedVirtualService, Place>();

function placeAt(virtualService: ResolvedVirtualService, at: Omit<Place, 'virtualService'>): Place {
  const known = places.get(virtualService);
  const isSame = known?.merged === at.merged && known.http3 === at.http3 && sameItems(known.beside, at.beside);
  if (isSame) return known;
  const place = { virtualService, ...at };
  places.set(virtualService, place);
  return place;
}

interface OpenHost extends GatewayVirtualHost {
  requireTls: boolean;
  /** A list of one is that of all hosts with the same routes; a longer one is the host's own. */
  routes: VirtualServiceRoutesInputs[];
}

function addServer(reader: ProxyReader, at: Omit<Place, 'virtualService'>, hosts: Map<string, OpenHost>): void {
  const { merged } = at;
  const requireTls = merged.server.tls?.httpsRedirect === true;
  const port = declaredPort(merged);
  const all = virtualServicesAt(reader, merged.gatewayName);
  // An entry each pays where a later run finds many of them; most Gateways have few VirtualServices.
  const placed =
    all.length <= FEW && hostsOf(all) <= HOSTS_TOGETHER_MAX
      ? all.map(virtualService => routesPlaced(reader, { virtualService, ...at }))
      : reader.selectEach(
          placedRoutes,
          all.map(virtualService => placeAt(virtualService, at)),
        );
  for (const { hosts: shared, sessions, routes: added } of placed) {
    if (added === undefined) continue;
    const alone = [added];
    for (let i = 0; i < shared.length; i++) {
      const host = shared[i]!;
      const known = hosts.get(host);
      if (known === undefined) {
        const session = sessions[i] ?? '';
        hosts.set(host, { host, port, domains: [host], requireTls, session, routes: alone });
      } else {
        if (known.routes.length > 1) known.routes.push(added);
        else known.routes = [...known.routes, added];
        if (requireTls) known.requireTls = true;
      }
    }
  }
  if (requireTls) redirectToTls(merged, hosts);
}

/** Istio leaves `namespace/` in these hosts, which gives a domain that nothing matches. */
function redirectToTls(merged: MergedServer, hosts: Map<string, OpenHost>): void {
  for (const written of merged.server.hosts ?? []) {
    const host = written.toLowerCase();
    const known = hosts.get(host);
    if (known !== undefined) known.requireTls = true;
    else
      hosts.set(host, { host, port: declaredPort(merged), domains: [host], requireTls: true, session: '', routes: [] });
  }
}

/** Of hosts that are services to which the VirtualService itself sends requests. */
function sessionsOf(
  reader: ProxyReader,
  hosts: readonly string[],
  { destinations, namespace }: ResolvedVirtualService,
): readonly string[] {
  if (!reader.feature('PILOT_ENABLE_PERSISTENT_SESSION_FILTER')) return [];
  const reached = new Set(destinations.all.map(({ host }) => host));
  return hosts.map(name => (reached.has(name) ? sessionOf(reader, destinationService(reader, name, namespace)) : ''));
}

function declaredPort(merged: MergedServer): number {
  return merged.server.port?.number ?? 0;
}

/**
 * Hosts of the server that are meant for the VirtualService's namespace, met with its own: of each pair the more
 * specific one.
 */
function sharedHosts(serverHosts: readonly string[], { hosts, namespace }: ResolvedVirtualService): readonly string[] {
  // A list while there are few, the usual case; a search of hundreds would be slow.
  const isMany = serverHosts.length * hosts.length > LIST_MAX;
  // To build an index takes longer than to go through the hosts a few times.
  const isIndexed = isMany && serverHosts.length > PASSES_MAX;
  const found: string[] | Set<string> = isMany ? new Set<string>() : [];
  const add = (host: string): void => {
    if (!Array.isArray(found)) found.add(host);
    else if (!found.includes(host)) found.push(host);
  };
  for (const written of serverHosts) {
    const slash = written.indexOf('/');
    if (slash >= 0 && written.slice(0, slash) !== namespace) continue;
    const serverHost = written.slice(slash + 1);
    if (isIndexed) for (const host of hostIndexOf(hosts).meeting(serverHost)) add(host);
    else
      for (const host of hosts) {
        if (subsetOf(host, serverHost)) add(host);
        else if (subsetOf(serverHost, host)) add(serverHost);
      }
  }
  return Array.isArray(found) ? found : [...found];
}

const LIST_MAX = 64;
const PASSES_MAX = 4;

function placeOf(
  reader: ProxyReader,
  merged: MergedServer,
  http3: boolean,
  virtualService: ResolvedVirtualService,
): RoutePlace {
  const port = declaredPort(merged);
  return {
    gateway: merged.gatewayName,
    port,
    https: merged.server.tls !== undefined,
    http3,
    infer: host => inferFrom(destinationService(reader, host, virtualService.namespace), host, port),
    service: host => destinationService(reader, host, virtualService.namespace),
  };
}

/** The service of the VirtualService's own namespace if the proxy may see it, else the one in the proxy's scope. */
function destinationService(reader: ProxyReader, host: string, namespace: string): Service | undefined {
  const beside = reader.get(servicesByNamespace, host).find(service => service.namespace === namespace);
  return beside !== undefined && isVisible(beside, reader.facet('namespace')) ? beside : reader.get(scopeService, host);
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
