// The outbound route configuration of a sidecar: its virtual hosts, made one by one, without duplicates, by name, the catch-all last.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildSidecarOutboundHTTPRouteConfig); spec-routes-visibility §1-5.
//
// Each step is put together from what the step before gave for each host, so that a change of one host is a change of one: see Selection.follows.

import type { Generator } from '../../../core/memo.ts';
import type { Service } from '../../../core/model/service.ts';
import type { Problem } from '../../../core/problem.ts';
import type { ProxyReader, Selection } from '../../../core/reader.ts';
import { outboundClusterName } from '../../../core/select/cluster-names.ts';
import { routeHeaderOptions } from '../../../core/select/proxy-headers.ts';
import { addressView } from '../../../core/select/service-addresses.ts';
import { scopeSettings } from '../../../core/select/sidecar-scope.ts';
import { sidecarVirtualHosts, type VirtualHostWrapper } from '../../../core/select/sidecar-virtual-hosts.ts';
import type { VirtualHost } from '../../proto/types.gen.ts';
import { catchAll } from './catch-all.ts';
import { type Claim, relevantDomain, serviceClaim } from './domains.ts';
import { type Kept, withoutDuplicates } from './duplicates.ts';
import { type RoutedHost, routedHosts } from './routed-hosts.ts';
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
  const { port, wrappers } = selected;
  const { sniffedHost } = selected.name;
  const { kept, routed, problems } = reader.about(hostsOfPort, { port, wrappers });
  const { attemptCount } = reader.derived(routeHeaderOptions);
  const hosts: VirtualHost[] = [];
  for (const one of kept) {
    const domains = domainsShown(one, port);
    const wanted = sniffedHost === undefined || domains.some(domain => domain === routeName || domain === sniffedHost);
    if (wanted && domains.length > 0) hosts.push(makeHost(reader, one, domains, routed[one.place]!, attemptCount));
  }
  const virtualHosts = sniffedHost === undefined ? [...hosts, catchAllHost(reader)] : sniffed(reader, hosts);
  return { virtualHosts, problems };
}

interface PortHosts {
  readonly port: number;
  readonly wrappers: readonly VirtualHostWrapper[];
}

interface HostsOfPort {
  /** By name. */
  readonly kept: readonly Kept[];
  /** By place. */
  readonly routed: readonly RoutedHost[];
  readonly problems: readonly Problem[];
}

/** What the route configurations of one port have in common: with sniffing there is one for every service on it. */
const hostsOfPort: Selection<PortHosts, HostsOfPort> = {
  name: 'route/hostsOfPort',
  follows: ({ port }) => String(port),
  run: (reader, { port, wrappers }) => {
    const parts = reader.aboutEach(routedHosts, wrappers);
    const routed = parts.flatMap(({ hosts }) => hosts);
    const claims = reader.about(claimsOf, {
      port,
      of: routed.map(host => host.of),
      ports: routed.map(host => host.port),
    });
    const { kept, problems } = reader.make(withoutDuplicates, { claims });
    return { kept, routed, problems: [...parts.flatMap(part => part.problems), ...problems] };
  },
};

interface Claiming {
  readonly port: number;
  readonly of: readonly (Service | Claim)[];
  /** Of each. */
  readonly ports: readonly number[];
}

/** The same list while hosts and services are the same, however their routes change. */
const claimsOf: Selection<Claiming, readonly Claim[]> = {
  name: 'route/claimsOf',
  run: (reader, { port: buildPort, of, ports }) => {
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

function makeHost(
  reader: ProxyReader,
  { claim }: Kept,
  domains: readonly string[],
  { routes, session }: RoutedHost,
  attemptCount: boolean,
): VirtualHost {
  if (domains === claim.domains) return reader.make(wholeHost, { claim, routes, session, attemptCount });
  const { name } = claim;
  return reader.make(virtualHost, { name, domains, routes: routes.routes, attemptCount, requireTls: false, session });
}

interface WholeHostInputs {
  readonly claim: Claim;
  readonly routes: GeneratedRoutes;
  readonly session: string;
  readonly attemptCount: boolean;
}

/** Of a host that keeps all its domains: mostly they all do. */
const wholeHost: Generator<WholeHostInputs, VirtualHost> = {
  name: 'route/wholeHost',
  run: ({ claim: { name, domains }, routes: { routes }, session, attemptCount }) =>
    virtualHost.run({ name, domains, routes, attemptCount, requireTls: false, session }),
};

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
