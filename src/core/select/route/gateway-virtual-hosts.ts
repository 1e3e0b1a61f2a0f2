// Which virtual hosts the route configuration of a gateway's servers has, and the VirtualServices that each is made of,
// in order.
//
// Unlike on sidecars, VirtualServices on one host are joined, not shadowed. The routes of a VirtualService are made
// once per Gateway within a route configuration, so what depends on the port is that of the first server (Istio does
// the same; tests of ours hold it).
// Source: Istio pilot/pkg/networking/core/gateway.go.

import { append } from '../../base/append.ts';
import { hostIndexOf } from '../../model/host-index.ts';
import { bySpecificity, subsetOf } from '../../model/hosts.ts';
import type { Service } from '../../model/service.ts';
import type { ProxyReader, Query, Selection } from '../../query/reader.ts';
import { type MergedServer, mergedGateway } from '../gateway/gateways.ts';
import { servicesByNamespace } from '../scope/scope-services.ts';
import { scopeService } from '../scope/sidecar-scope.ts';
import { type ResolvedVirtualService, virtualServicesFor } from '../scope/virtual-services.ts';
import { isVisible } from '../scope/visibility.ts';
import { sessionOf } from './persistent-session.ts';
import {
  inferFrom,
  type RoutePlace,
  type VirtualServiceRoutesInputs,
  virtualServiceRoutesInputs,
} from './virtual-service-routes.ts';

export interface GatewayVirtualHost {
  /** Also the first domain. */
  readonly host: string;
  /** Declared port of the first server with the host. */
  readonly port: number;
  /** Never empty; more than one where hosts with the same routes were joined. */
  readonly domains: readonly string[];
  readonly requireTls: boolean;
  /** Of the service of that name, if there is one: see persistent-session.ts. */
  readonly session: string;
  /** In order; empty for a host that only redirects to TLS. One object for each VirtualService and Gateway. */
  readonly routes: readonly VirtualServiceRoutesInputs[];
}

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
    const hosts = new Map<string, OpenHost>();
    const http3 = servers.some(server => server.http3);
    const namespace = reader.facet('namespace');
    const byGateway = new Map<string, MergedServer[]>();
    for (const merged of servers) {
      const known = byGateway.get(merged.gatewayName);
      if (known === undefined) byGateway.set(merged.gatewayName, [merged]);
      else known.push(merged);
    }
    for (const merged of servers) {
      addServer(reader, { merged, beside: byGateway.get(merged.gatewayName)!, http3 }, namespace, hosts);
    }
    const found = [...hosts.values()];
    const collapse = found.length > 1 && reader.feature('PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION');
    return { port: declaredPort(first), hosts: collapse ? collapsed(found) : found };
  },
};

/** A VirtualService at a server. */
interface Place {
  readonly virtualService: ResolvedVirtualService;
  readonly merged: MergedServer;
  /** All servers of the Gateway in the route configuration. */
  readonly beside: readonly MergedServer[];
  readonly http3: boolean;
}

interface PlacedRoutes {
  readonly hosts: readonly { readonly name: string; readonly session: string }[];
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
  const shared = hostsAt(merged, virtualService);
  if (shared.length === 0) return NOWHERE;
  const routes =
    beside.length === 1
      ? routesOf(reader, { virtualService, at: merged, http3 })
      : firstRoutes(reader, { virtualService, merged, beside, http3 });
  if (routes === undefined) return NOWHERE;
  const hosts = shared.map(host => host.toLowerCase());
  return { hosts: hosts.map(name => ({ name, session: sessionOfHost(reader, name, virtualService) })), routes };
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

function hostsAt({ server }: MergedServer, virtualService: ResolvedVirtualService): readonly string[] {
  return sharedHosts(server.hosts ?? [], virtualService);
}

const NOWHERE: PlacedRoutes = { hosts: [], routes: undefined };

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

interface OpenHost {
  readonly host: string;
  readonly port: number;
  readonly domains: string[];
  requireTls: boolean;
  readonly session: string;
  readonly routes: VirtualServiceRoutesInputs[];
}

function addServer(
  reader: ProxyReader,
  at: Omit<Place, 'virtualService'>,
  namespace: string,
  hosts: Map<string, OpenHost>,
): void {
  const { merged } = at;
  const requireTls = merged.server.tls?.httpsRedirect === true;
  const port = declaredPort(merged);
  const all = reader.get(virtualServicesFor, { namespace, gateway: merged.gatewayName });
  // An entry each pays where a later run finds many of them; most Gateways have few VirtualServices.
  const placed =
    all.length <= FEW
      ? all.map(virtualService => routesPlaced(reader, { virtualService, ...at }))
      : reader.selectEach(
          placedRoutes,
          all.map(virtualService => placeAt(virtualService, at)),
        );
  for (const { hosts: shared, routes } of placed) {
    if (routes === undefined) continue;
    for (const { name: host, session } of shared) {
      const known = hosts.get(host);
      if (known === undefined) hosts.set(host, { host, port, domains: [host], requireTls, session, routes: [routes] });
      else {
        known.routes.push(routes);
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

/** Where the host is a service that the VirtualService itself sends requests to. */
function sessionOfHost(reader: ProxyReader, name: string, virtualService: ResolvedVirtualService): string {
  if (!reader.feature('PILOT_ENABLE_PERSISTENT_SESSION_FILTER')) return '';
  if (!virtualService.destinations.all.some(({ host }) => host === name)) return '';
  return sessionOf(reader, destinationService(reader, name, virtualService.namespace));
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
  const found: string[] | Set<string> = isMany ? new Set<string>() : [];
  const add = (host: string): void => {
    if (!Array.isArray(found)) found.add(host);
    else if (!found.includes(host)) found.push(host);
  };
  for (const written of serverHosts) {
    const slash = written.indexOf('/');
    if (slash >= 0 && written.slice(0, slash) !== namespace) continue;
    const serverHost = written.slice(slash + 1);
    if (isMany) for (const host of hostIndexOf(hosts).meeting(serverHost)) add(host);
    else
      for (const host of hosts) {
        if (subsetOf(host, serverHost)) add(host);
        else if (subsetOf(serverHost, host)) add(serverHost);
      }
  }
  return Array.isArray(found) ? found : [...found];
}

const LIST_MAX = 64;

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

/**
 * Hosts with routes from the same VirtualServices through the same Gateways become domains of one virtual host. A host
 * is compared with the last virtual host of its routes only: one that redirects to TLS, or does not, parts the others.
 */
function collapsed(hosts: readonly OpenHost[]): readonly GatewayVirtualHost[] {
  const kept: OpenHost[] = [];
  /** By their first routes: there can be thousands of hosts, and few begin alike. */
  const alike = new Map<VirtualServiceRoutesInputs | undefined, OpenHost[]>();
  for (const host of [...hosts].sort((a, b) => byCollapseOrder(a.host, b.host))) {
    const candidates = alike.get(host.routes[0]) ?? [];
    const last = candidates.findLast(other => sameItems(other.routes, host.routes));
    if (last !== undefined && last.requireTls === host.requireTls) {
      append(last.domains, host.domains);
      continue;
    }
    kept.push(host);
    candidates.push(host);
    alike.set(host.routes[0], candidates);
  }
  return kept;
}

function byCollapseOrder(a: string, b: string): number {
  const wild = Number(a.startsWith('*')) - Number(b.startsWith('*'));
  return wild || b.length - a.length || bySpecificity(a, b);
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
