// The outbound route configuration of a sidecar: its virtual hosts, made one by one, without duplicates, by name, the catch-all last.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildSidecarOutboundHTTPRouteConfig); spec-routes-visibility §1-5.
//
// Each step is put together from what the step before gave for each host, so that a change of one host is a change of one: see Selection.follows.

import type { Problem } from '../../../core/base/problem.ts';
import type { Service } from '../../../core/model/service.ts';
import { type Generator, interning } from '../../../core/query/memo.ts';
import type { ProxyReader, Selection } from '../../../core/query/reader.ts';
import { outboundClusterName } from '../../../core/select/cluster/cluster-names.ts';
import { addressView } from '../../../core/select/nametable/service-addresses.ts';
import { routeHeaderOptions } from '../../../core/select/proxy/proxy-headers.ts';
import { type PortVirtualHosts, sidecarVirtualHosts } from '../../../core/select/route/sidecar-virtual-hosts.ts';
import { scopeSettings } from '../../../core/select/scope/sidecar-scope.ts';
import type { VirtualHost } from '../../proto/types.gen.ts';
import { catchAll } from './catch-all.ts';
import { type Claim, relevantDomain, serviceClaim } from './domains.ts';
import { type Kept, withoutDuplicates } from './duplicates.ts';
import { defaultlyRouted, type RoutedHost, routedHosts } from './routed-hosts.ts';
import { virtualHost } from './virtual-host.ts';
import type { GeneratedRoutes } from './virtual-service-routes.ts';

export interface GeneratedVirtualHosts {
  readonly virtualHosts: readonly VirtualHost[];
  readonly problems: readonly Problem[];
}

/** undefined: a sidecar has no route configuration of this name. */
export function sidecarRoute(reader: ProxyReader, routeName: string): GeneratedVirtualHosts | undefined {
  const selected = reader.get(sidecarVirtualHosts, routeName);
  if (selected === undefined) return undefined;
  const { port } = selected.hosts;
  const { sniffedHost } = selected.name;
  const found = reader.select(hostsOfPort, selected.hosts);
  const shown: Shown = { found, port, lasts: lastsOf(found.kept), ...reader.derived(routeHeaderOptions) };
  const hosts: VirtualHost[] = [];
  if (sniffedHost === undefined) {
    for (let place = 0; place < found.kept.length; place++) {
      const host = hostAt(reader, shown, place);
      if (host !== undefined) hosts.push(host);
    }
    hosts.push(catchAllHost(reader));
    return { virtualHosts: hosts, problems: found.problems };
  }
  const names = [routeName, sniffedHost];
  for (const place of placesOf(reader.make(placesByDomain, { found }), names)) {
    const host = hostAt(reader, shown, place);
    if (host?.domains?.some(domain => names.includes(domain)) === true) hosts.push(host);
  }
  return { virtualHosts: sniffed(reader, hosts), problems: found.problems };
}

interface HostsOfPort {
  /** By name. */
  readonly kept: readonly Kept[];
  /** By place. */
  readonly routed: readonly RoutedHost[];
  readonly problems: readonly Problem[];
}

/** What the route configurations of one port have in common: with sniffing there is one for every service on it. */
const hostsOfPort: Selection<PortVirtualHosts, HostsOfPort> = {
  name: 'route/hostsOfPort',
  run: (reader, of) => {
    const { claiming, routed, problems } = reader.select(routedOfPort, of);
    const claims = reader.select(claimsOf, { claiming });
    const { kept, problems: conflicts } = reader.make(withoutDuplicates, { claims });
    return { kept, routed, problems: [...problems, ...conflicts] };
  },
};

/** Which of the hosts kept has a domain: no two have the same. */
const placesByDomain: Generator<{ readonly found: HostsOfPort }, ReadonlyMap<string, number>> = {
  name: 'route/placesByDomain',
  run: ({ found }) => {
    const places = new Map<string, number>();
    for (const [place, { domains }] of found.kept.entries()) for (const domain of domains) places.set(domain, place);
    return places;
  },
};

/** Ascending. */
function placesOf(places: ReadonlyMap<string, number>, domains: readonly string[]): readonly number[] {
  const found = domains.flatMap(domain => places.get(domain) ?? []);
  return [...new Set(found)].sort((a, b) => a - b);
}

interface RoutedOfPort {
  readonly routed: readonly RoutedHost[];
  /** What they claim, the identical one while hosts and services are the same. */
  readonly claiming: Claiming;
  readonly problems: readonly Problem[];
}

interface Claiming {
  readonly port: number;
  readonly of: readonly (Service | Claim)[];
  /** Of each. */
  readonly ports: readonly number[];
}

/** What does not depend on where the proxy is: once for all namespaces. */
const routedOfPort: Selection<PortVirtualHosts, RoutedOfPort> = {
  name: 'route/routedOfPort',
  lineage: ({ port }) => String(port),
  run: (reader, { port, wrappers, defaults }) => {
    const routed: RoutedHost[] = [];
    const problems: Problem[] = [];
    for (const part of reader.selectEach(routedHosts, wrappers)) {
      for (const host of part.hosts) routed.push(host);
      for (const problem of part.problems) problems.push(problem);
    }
    for (const host of reader.select(defaultlyRouted, defaults)) routed.push(host);
    const [of, ports] = [routed.map(host => host.of), routed.map(host => host.port)];
    const claiming = reader.make(oneOfEqualClaims, { port, of, ports });
    return { routed, claiming, problems };
  },
};

const oneOfEqualClaims = interning<Claiming>('route/oneOfEqualClaims');

/** However routes change, the same list. */
const claimsOf: Selection<{ readonly claiming: Claiming }, readonly Claim[]> = {
  name: 'route/claimsOf',
  run: (reader, { claiming: { port: buildPort, of, ports } }) => {
    const view = reader.derived(addressView);
    const dnsDomain = reader.facet('dnsDomain');
    const absoluteNames = reader.feature('PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN');
    return of.map((host, i) => {
      if ('derived' in host) return host;
      const port = ports[i]!;
      const withPort = buildPort === 0 ? port : 0;
      const near = relevantDomain(host, dnsDomain);
      return reader.make(serviceClaim, { service: host, port, view, withPort, dnsDomain: near, absoluteNames });
    });
  },
};

/** Of the proxy of all ports only what carries its own, but for the port that clients leave out. */
function domainsShown({ claim, domains }: Kept, port: number): readonly string[] {
  return port === 0 && claim.port !== 80 ? domains.filter(domain => domain.includes(':')) : domains;
}

interface MadeHost {
  readonly domains: readonly string[];
  readonly routes: GeneratedRoutes;
  readonly session: string;
  readonly attemptCount: boolean;
  readonly host: VirtualHost;
}

interface Shown {
  readonly found: HostsOfPort;
  readonly port: number;
  readonly attemptCount: boolean;
  readonly lasts: (MadeHost | undefined)[];
}

/** The last host of each place: of hundreds, mostly all but one are made of the identical parts again. */
const lastHosts = new WeakMap<readonly Kept[], (MadeHost | undefined)[]>();

function lastsOf(kept: readonly Kept[]): (MadeHost | undefined)[] {
  let lasts = lastHosts.get(kept);
  if (lasts === undefined) {
    lasts = kept.map(() => undefined);
    lastHosts.set(kept, lasts);
  }
  return lasts;
}

/** undefined: nothing is left of its domains on this port. */
function hostAt(
  reader: ProxyReader,
  { found, port, attemptCount, lasts }: Shown,
  place: number,
): VirtualHost | undefined {
  const one = found.kept[place]!;
  const domains = domainsShown(one, port);
  if (domains.length === 0) return undefined;
  const { routes, session } = found.routed[one.place]!;
  const last = lasts[place];
  const same =
    last?.domains === domains &&
    last.routes === routes &&
    last.session === session &&
    last.attemptCount === attemptCount;
  if (same) return last.host;
  const { name } = one.claim;
  const inputs = { name, domains, routes: routes.routes, attemptCount, requireTls: false, session };
  const host = reader.make(virtualHost, inputs);
  lasts[place] = { domains, routes, session, attemptCount, host };
  return host;
}

/** A sniffed port is of one service, whatever a request calls it: its virtual host takes every domain. */
function sniffed(reader: ProxyReader, found: readonly VirtualHost[]): readonly VirtualHost[] {
  const [only] = found;
  if (only === undefined || found.length > 1) return found;
  return [reader.make(forEveryDomain, { only })];
}

const forEveryDomain: Generator<{ readonly only: VirtualHost }, VirtualHost> = {
  name: 'route/forEveryDomain',
  run: ({ only }) => ({ ...only, domains: ['*'] }),
};

function catchAllHost(reader: ProxyReader): VirtualHost {
  const { mode, egressProxy } = reader.get(scopeSettings, '').outboundTrafficPolicy;
  const egressCluster =
    egressProxy === undefined
      ? ''
      : outboundClusterName(egressProxy.host ?? '', egressProxy.subset ?? '', egressProxy.port?.number ?? 0);
  return reader.make(catchAll, {
    allowAny: mode === 'ALLOW_ANY',
    egressCluster,
    ...reader.derived(routeHeaderOptions),
  });
}
