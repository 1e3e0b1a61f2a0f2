// The virtual hosts of a sidecar's outbound route configuration, sorted by name, without duplicate domains, the
// catch-all last.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildSidecarOutboundHTTPRouteConfig).
//
// Every step keeps one value a host, made from the same host's value of the step before. A change of one host is
// therefore one change at every step (Selection.lineage), and steps that do not depend on the proxy are shared by all
// namespaces.

import { append } from '../../../core/base/append.ts';
import type { Problem } from '../../../core/base/problem.ts';
import type { Service } from '../../../core/model/service.ts';
import { type Generator, interning } from '../../../core/query/memo.ts';
import type { ProxyReader, Selection } from '../../../core/query/reader.ts';
import { MEMBERS_PER_WORK_UNIT } from '../../../core/query/work-budget.ts';
import { routeHeaderOptions } from '../../../core/select/proxy/proxy-headers.ts';
import { selectCatchAll } from '../../../core/select/route/catch-all.ts';
import { claimSelector } from '../../../core/select/route/domains.ts';
import { type PortVirtualHosts, sidecarVirtualHosts } from '../../../core/select/route/sidecar-virtual-hosts.ts';
import { catchAll } from '../../generate/route/catch-all.ts';
import { type Claim, portedClaim, serviceClaim } from '../../generate/route/domains.ts';
import {
  type ClaimBlock,
  claimBlock,
  type Deduplicated,
  type Kept,
  mergedClaims,
  serviceNames,
  withoutDuplicates,
} from '../../generate/route/duplicates.ts';
import { domainsOnPort, forEveryDomain, placesByDomain, placesOf } from '../../generate/route/sidecar.ts';
import { virtualHost } from '../../generate/route/virtual-host.ts';
import type { GeneratedRoutes } from '../../generate/route/virtual-service-routes.ts';
import type { VirtualHost } from '../../proto/types.gen.ts';
import { defaultlyRouted, type RoutedHost, routedHosts } from './routed-hosts.ts';

export interface MadeVirtualHosts {
  readonly virtualHosts: readonly VirtualHost[];
  readonly problems: readonly Problem[];
}

/** undefined: a sidecar has no route configuration of this name. */
export function sidecarRoute(reader: ProxyReader, routeName: string): MadeVirtualHosts | undefined {
  const selected = reader.get(sidecarVirtualHosts, routeName);
  if (selected === undefined) return undefined;
  const { sniffedHost } = selected.name;
  if (sniffedHost === undefined) {
    const { virtualHosts, problems } = allHosts(reader, selected.hosts);
    return { virtualHosts: [...virtualHosts, reader.make(catchAll, selectCatchAll(reader))], problems };
  }
  const found = reader.select(hostsOfPort, selected.hosts);
  const context = hostContext(reader, found, selected.hosts.port);
  const hosts: VirtualHost[] = [];
  const names = [routeName, sniffedHost];
  for (const place of placesOf(reader.make(placesByDomain, { found }), names)) {
    const host = hostAt(reader, context, place);
    if (host?.domains?.some(domain => names.includes(domain)) === true) hosts.push(host);
  }
  return { virtualHosts: sniffed(reader, hosts), problems: found.problems };
}

/** The virtual hosts of a port without the catch-all, for clients that look up a host themselves. */
export function virtualHostsOfPort(reader: ProxyReader, port: number): MadeVirtualHosts {
  const selected = reader.get(sidecarVirtualHosts, String(port));
  if (selected === undefined) return { virtualHosts: [], problems: [] };
  return allHosts(reader, selected.hosts);
}

function allHosts(reader: ProxyReader, of: PortVirtualHosts): MadeVirtualHosts {
  const found = reader.select(hostsOfPort, of);
  const { port } = of;
  const count = found.kept.length;
  if (count <= HOSTS_ALONE_MAX) {
    return { virtualHosts: hostsWithin.run(reader, { found, port, from: 0, to: count }), problems: found.problems };
  }
  const virtualHosts: VirtualHost[] = [];
  for (let from = 0; from < count; from += HOSTS_TOGETHER) {
    append(virtualHosts, reader.select(hostsWithin, { found, port, from, to: Math.min(count, from + HOSTS_TOGETHER) }));
  }
  return { virtualHosts, problems: found.problems };
}

/** More hosts are gone through in blocks, so that what is made of them stays made when the work is interrupted. */
const HOSTS_ALONE_MAX = 4_096;
const HOSTS_TOGETHER = 512;

interface HostRange {
  readonly found: HostsOfPort;
  readonly port: number;
  /** Places. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

const hostsWithin: Selection<HostRange, readonly VirtualHost[]> = {
  name: 'route/hostsWithin',
  run: (reader, { found, port, from, to }) => {
    const context = hostContext(reader, found, port);
    const hosts: VirtualHost[] = [];
    for (let place = from; place < to; place++) {
      const host = hostAt(reader, context, place);
      if (host !== undefined) hosts.push(host);
    }
    return hosts;
  },
};

interface HostsOfPort {
  /** By name. */
  readonly kept: readonly Kept[];
  /** By place. */
  readonly routed: readonly RoutedHost[];
  readonly problems: readonly Problem[];
}

/** What the route configurations of one port share: with sniffing there is one for every service on it. */
const hostsOfPort: Selection<PortVirtualHosts, HostsOfPort> = {
  name: 'route/hostsOfPort',
  run: (reader, of) => {
    const { claiming, routed, problems } = reader.select(routedOfPort, of);
    const claims = reader.select(claimsOf, { claiming });
    const { kept, problems: conflicts } = deduplicated(reader, claims);
    return { kept, routed, problems: [...problems, ...conflicts] };
  },
};

function deduplicated(reader: ProxyReader, claims: readonly Claim[]): Deduplicated {
  if (claims.length <= HOSTS_ALONE_MAX) return reader.make(withoutDuplicates, { claims });
  const services = reader.make(serviceNames, { claims: claims.filter(({ hostname }) => hostname !== undefined) });
  const blocks: ClaimBlock[] = [];
  for (let from = 0; from < claims.length; from += CLAIMS_TOGETHER) {
    const block = claims.slice(from, from + CLAIMS_TOGETHER);
    blocks.push(reader.make(claimBlock, { claims: block, from, services, before: blocks.slice() }));
  }
  return reader.make(mergedClaims, { blocks });
}

/** Each block looks into all blocks before it, so they are few. */
const CLAIMS_TOGETHER = 8_192;

interface RoutedOfPort {
  readonly routed: readonly RoutedHost[];
  /** The domains that they claim; the identical object while hosts and services stay the same. */
  readonly claiming: Claiming;
  readonly problems: readonly Problem[];
}

interface Claiming {
  readonly port: number;
  readonly sources: readonly (Service | Claim)[];
  /** The port of each source. */
  readonly ports: readonly number[];
}

/** The part that does not depend on the proxy's namespace: one for all. */
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
    const [sources, ports] = [routed.map(host => host.of), routed.map(host => host.port)];
    const claiming = reader.make(oneOfEqualClaims, { port, sources, ports });
    return { routed, claiming, problems };
  },
};

const oneOfEqualClaims: Generator<Claiming, Claiming> = {
  ...interning('route/oneOfEqualClaims'),
  work: (_, { sources }) => sources.length / MEMBERS_PER_WORK_UNIT,
};

/** Independent of the routes: a changed route leaves the list as it is. */
const claimsOf: Selection<{ readonly claiming: Claiming }, readonly Claim[]> = {
  name: 'route/claimsOf',
  run: (reader, { claiming: { port: buildPort, sources, ports } }) => {
    const { withPorts, inputsOf } = claimSelector(reader, buildPort);
    return sources.map((host, i) => {
      if (!('derived' in host)) return reader.make(serviceClaim, inputsOf(host, ports[i]!));
      return withPorts ? reader.make(portedClaim, { claim: host }) : host;
    });
  },
};

interface MadeHost {
  readonly domains: readonly string[];
  readonly routes: GeneratedRoutes;
  readonly session: string;
  readonly attemptCount: boolean;
  readonly host: VirtualHost;
}

interface HostContext {
  readonly found: HostsOfPort;
  readonly port: number;
  readonly attemptCount: boolean;
  readonly previousHosts: (MadeHost | undefined)[];
}

function hostContext(reader: ProxyReader, found: HostsOfPort, port: number): HostContext {
  return { found, port, previousHosts: previousHostsOf(found.kept), ...reader.derived(routeHeaderOptions) };
}

/**
 * The last virtual host of each place: after a change usually all but one of hundreds have identical parts, which this
 * finds without a memo.
 */
const previousByKept = new WeakMap<readonly Kept[], (MadeHost | undefined)[]>();

function previousHostsOf(kept: readonly Kept[]): (MadeHost | undefined)[] {
  let previousHosts = previousByKept.get(kept);
  if (previousHosts === undefined) {
    previousHosts = kept.map(() => undefined);
    previousByKept.set(kept, previousHosts);
  }
  return previousHosts;
}

/** undefined: none of its domains remains on this port. */
function hostAt(
  reader: ProxyReader,
  { found, port, attemptCount, previousHosts }: HostContext,
  place: number,
): VirtualHost | undefined {
  const one = found.kept[place]!;
  const domains = domainsOnPort(one, port);
  if (domains.length === 0) return undefined;
  const { routes, session } = found.routed[one.place]!;
  const last = previousHosts[place];
  const same =
    last?.domains === domains &&
    last.routes === routes &&
    last.session === session &&
    last.attemptCount === attemptCount;
  if (same) return last.host;
  const { name } = one.claim;
  const inputs = { name, domains, routes: routes.routes, attemptCount, requireTls: false, session };
  const host = reader.make(virtualHost, inputs);
  previousHosts[place] = { domains, routes, session, attemptCount, host };
  return host;
}

/**
 * A sniffed port belongs to one service: its virtual host takes every domain, so the host of a request does not
 * matter.
 */
function sniffed(reader: ProxyReader, found: readonly VirtualHost[]): readonly VirtualHost[] {
  const [only] = found;
  if (only === undefined || found.length > 1) return found;
  return [reader.make(forEveryDomain, { only })];
}
