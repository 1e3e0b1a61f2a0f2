// Inputs of the routes of one VirtualService at one place (a port of sidecars, a server of gateways).
//
// Everything that differs between proxies is settled here and put in as values (which matches apply, which port a
// destination means), so that proxies that differ in labels or scope without effect on this VirtualService share its
// routes.
// Source: Istio pilot/pkg/networking/core/route/route.go.

import { hasLabels } from '../../base/labels.ts';
import type { Service } from '../../model/service.ts';
import type { Generator } from '../../query/memo.ts';
import type { ProxyReader, Selection } from '../../query/reader.ts';
import { proxySelectedBy } from '../../registry/workload.ts';
import type {
  Destination,
  HTTPMatchRequest,
  HTTPRetry,
  LoadBalancerSettings_ConsistentHashLB,
  VirtualService,
} from '../../schema/istio-types.gen.ts';
import { routeHeaderOptions } from '../proxy/proxy-headers.ts';
import { isProxyless } from '../proxy/proxyless.ts';
import type { ResolvedVirtualService } from '../scope/virtual-services.ts';
import { hashLookup } from './consistent-hash.ts';
import { sessionOf } from './persistent-session.ts';

/** `rule` and `match` are indexes; `match` is -1 for a rule that matches everything. */
export type SelectedMatch = readonly [rule: number, match: number];
/** A destination host as written, the host in its cluster name, and the port if the destination names none. */
export type InferredDestination = readonly [host: string, clusterHost: string, port: number];
/** `host|subset|port` as written (see `destinationKey`), and the consistentHash block in force for it. */
export type DestinationHash = readonly [key: string, hash: LoadBalancerSettings_ConsistentHashLB];

export interface VirtualServiceRoutesInputs {
  readonly virtualService: ResolvedVirtualService;
  /** In order; never empty. */
  readonly selected: readonly SelectedMatch[];
  /**
   * The port being built: a service port of sidecars, the declared port of a gateway's server, 0 for proxy and unix
   * routes.
   */
  readonly port: number;
  /** Scheme that a redirect without one is taken to keep. */
  readonly https: boolean;
  /** Responses say that the port is served over QUIC too. */
  readonly http3: boolean;
  readonly inferred: readonly InferredDestination[];
  /** Of a waypoint: the cluster of each destination (see `destinationKey`); else empty. */
  readonly clusters: readonly (readonly [key: string, cluster: string])[];
  readonly hashes: readonly DestinationHash[];
  /** MeshConfig defaultHttpRetryPolicy. */
  readonly retry: HTTPRetry | undefined;
  readonly appendXForwardedHost: boolean;
  /** The client is gRPC itself, without a proxy. */
  readonly proxyless: boolean;
  /** Mirrored requests carry `-shadow` in their host. */
  readonly shadowSuffix: boolean;
  /** Sessions of the services that destinations lead to, by host as written; only those that have one. */
  readonly sessions: readonly (readonly [host: string, session: string])[];
}

export interface RoutePlace {
  /** `mesh` or `namespace/name`. */
  readonly gateway: string;
  readonly port: number;
  readonly https: boolean;
  readonly http3: boolean;
  /** Where a destination host leads. */
  readonly infer: (host: string) => Omit<InferredDestinationOf, 'host'>;
  /** The service that a destination host means here. */
  readonly service: (host: string) => Service | undefined;
  /** Of a waypoint, which knows no labels of its clients: the cluster of a destination. */
  readonly clusterOf?: (destination: Destination) => string;
}
export interface InferredDestinationOf {
  readonly host: string;
  readonly clusterHost: string;
  readonly port: number;
}

/** undefined: no rule of the VirtualService applies in this place. */
export function virtualServiceRoutesInputs(
  reader: ProxyReader,
  virtualService: ResolvedVirtualService,
  place: RoutePlace,
): VirtualServiceRoutesInputs | undefined {
  const { gateway, port, clusterOf } = place;
  const at = { virtualService, gateway, port, isWaypoint: clusterOf !== undefined };
  const isLong = virtualService.routeDestinations > ROUTES_ALONE_MAX;
  const selected = isLong ? reader.select(selectedMatches, at) : selectMatches(reader, at);
  if (selected.length === 0) return undefined;
  const { destinations, hosts } = isLong ? reader.make(routedTo, { virtualService }) : routedTo.run({ virtualService });
  return {
    virtualService,
    selected,
    port: place.port,
    https: place.https,
    http3: place.http3,
    inferred: hosts.map(host => {
      const { clusterHost, port } = place.infer(host);
      return [host, clusterHost, port];
    }),
    clusters: clustersOf(destinations, place),
    hashes: destinationHashes(reader, destinations),
    retry: reader.mesh('defaultHttpRetryPolicy'),
    sessions: sessionsOf(reader, hosts, place),
    shadowSuffix: !reader.feature('DISABLE_SHADOW_HOST_SUFFIX'),
    appendXForwardedHost: reader.derived(routeHeaderOptions).appendXForwardedHost,
    proxyless: isProxyless(reader),
  };
}

/** A VirtualService of more is gone through by runs of their own. */
const ROUTES_ALONE_MAX = 1_024;

/** Where the matches of a VirtualService are asked about. */
interface MatchPlace extends Pick<RoutePlace, 'gateway' | 'port'> {
  readonly virtualService: ResolvedVirtualService;
  readonly isWaypoint: boolean;
}

const selectedMatches: Selection<MatchPlace, readonly SelectedMatch[]> = {
  name: 'select/selectedMatches',
  run: selectMatches,
};

interface RoutedTo {
  readonly destinations: readonly Destination[];
  /** Each once. */
  readonly hosts: readonly string[];
}

const routedTo: Generator<{ readonly virtualService: ResolvedVirtualService }, RoutedTo> = {
  name: 'select/routedTo',
  run: ({ virtualService: { spec } }) => {
    const destinations = routedDestinations(spec);
    return { destinations, hosts: hostsOf(destinations) };
  },
  work: ({ destinations }) => destinations.length / DESTINATIONS_PER_WORK_UNIT,
};

/** Destinations that are listed in about the time of one run of a query. */
const DESTINATIONS_PER_WORK_UNIT = 100;

function clustersOf(
  destinations: readonly Destination[],
  { clusterOf }: RoutePlace,
): VirtualServiceRoutesInputs['clusters'] {
  if (clusterOf === undefined) return noClusters;
  const clusters = new Map<string, string>();
  for (const destination of destinations) {
    const key = destinationKey(destination);
    if (!clusters.has(key)) clusters.set(key, clusterOf(destination));
  }
  return [...clusters];
}

const noClusters: VirtualServiceRoutesInputs['clusters'] = [];

function hostsOf(destinations: readonly Destination[]): readonly string[] {
  const [first] = destinations;
  if (destinations.length === 1) return [first!.host ?? ''];
  const hosts = new Set<string>();
  for (const { host } of destinations) hosts.add(host ?? '');
  return [...hosts];
}

function sessionsOf(
  reader: ProxyReader,
  hosts: readonly string[],
  place: RoutePlace,
): VirtualServiceRoutesInputs['sessions'] {
  if (!reader.feature('PILOT_ENABLE_PERSISTENT_SESSION_FILTER')) return noSessions;
  const found = hosts.map((host): readonly [string, string] => [host, sessionOf(reader, place.service(host))]);
  return found.filter(([, session]) => session !== '');
}

const noSessions: VirtualServiceRoutesInputs['sessions'] = [];

export function destinationKey(destination: Destination): string {
  return `${destination.host ?? ''}|${destination.subset ?? ''}|${destination.port?.number ?? ''}`;
}

/** The service that a destination names decides: an ExternalName alias leads on, a single port need not be named. */
export function inferFrom(
  service: Service | undefined,
  host: string,
  buildPort: number,
): Omit<InferredDestinationOf, 'host'> {
  const clusterHost = service?.resolution === 'Alias' ? (service.externalName ?? host) : host;
  const port = service?.ports.length === 1 ? service.ports[0]!.port : buildPort;
  return { clusterHost, port };
}

function selectMatches(reader: ProxyReader, place: MatchPlace): readonly SelectedMatch[] {
  const routes = place.virtualService.spec.http ?? [];
  const first = routes[0]?.match ?? [];
  if (routes.length > 0 && first.length === 0) return everything;
  // Allocated at its exact length, because thousands of these are kept.
  if (routes.length === 1 && first.every(match => applies(reader, match, place))) return first.map((_, i) => [0, i]);
  const selected: SelectedMatch[] = [];
  for (let rule = 0; rule < routes.length; rule++) {
    const matches = routes[rule]!.match ?? [];
    if (matches.length === 0) {
      // Rules after one that matches everything are unreachable.
      selected.push([rule, -1]);
      return selected;
    }
    for (let i = 0; i < matches.length; i++) if (applies(reader, matches[i]!, place)) selected.push([rule, i]);
  }
  return selected;
}

/** The first rule matches everything. */
const everything: readonly SelectedMatch[] = [[0, -1]];

function applies(reader: ProxyReader, match: HTTPMatchRequest, place: MatchPlace): boolean {
  if (match.port !== undefined && match.port !== 0 && match.port !== place.port) return false;
  const labels = match.sourceLabels;
  const labelled = hasLabels(labels);
  if (labelled && place.isWaypoint) return false;
  const gateways = match.gateways ?? [];
  if (gateways.length > 0) return gateways.includes(place.gateway);
  if (labels !== undefined && !proxySelectedBy(reader, labels)) return false;
  const namespace = match.sourceNamespace ?? '';
  return namespace === '' || namespace === reader.facet('namespace');
}

/** Destinations that requests are sent to (and mirrored to), each as often as it is named. */
function routedDestinations(spec: VirtualService): readonly Destination[] {
  const found: Destination[] = [];
  for (const rule of spec.http ?? []) {
    for (const route of rule.route ?? []) if (route.destination !== undefined) found.push(route.destination);
    if (rule.mirror !== undefined) found.push(rule.mirror);
    for (const mirror of rule.mirrors ?? []) if (mirror.destination !== undefined) found.push(mirror.destination);
  }
  return found;
}

function destinationHashes(reader: ProxyReader, destinations: readonly Destination[]): readonly DestinationHash[] {
  const lookup = hashLookup(reader);
  if (lookup.nothing) return noHashes;
  let hashes: Map<string, LoadBalancerSettings_ConsistentHashLB> | undefined;
  for (const destination of destinations) {
    const hash = lookup.of(destination.host ?? '', destination.subset ?? '', destination.port?.number);
    if (hash === undefined) continue;
    hashes ??= new Map();
    hashes.set(destinationKey(destination), hash);
  }
  return hashes === undefined ? noHashes : [...hashes];
}

const noHashes: readonly DestinationHash[] = [];
