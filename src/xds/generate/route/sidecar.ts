// The outbound route configuration of a sidecar: its virtual hosts, made one by one, without duplicates, by name, the catch-all last.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildSidecarOutboundHTTPRouteConfig); spec-routes-visibility §1-5.

import type { Generator } from '../../../core/memo.ts';
import type { Service } from '../../../core/model/service.ts';
import { compareText } from '../../../core/object.ts';
import type { Problem } from '../../../core/problem.ts';
import type { ProxyReader, Selection } from '../../../core/reader.ts';
import type { HTTPRetry } from '../../../core/schema/istio-types.gen.ts';
import { outboundClusterName } from '../../../core/select/cluster-names.ts';
import { type HashLookup, hashLookup } from '../../../core/select/consistent-hash.ts';
import { sessionOf } from '../../../core/select/persistent-session.ts';
import { type RouteHeaderOptions, routeHeaderOptions } from '../../../core/select/proxy-headers.ts';
import { type AddressView, addressView } from '../../../core/select/service-addresses.ts';
import { scopeSettings } from '../../../core/select/sidecar-scope.ts';
import { sidecarVirtualHosts, type VirtualHostWrapper } from '../../../core/select/sidecar-virtual-hosts.ts';
import type { Route, VirtualHost } from '../../proto/types.gen.ts';
import { catchAll } from './catch-all.ts';
import { defaultRoutes } from './default-route.ts';
import { asDomain, type Domains, relevantDomain, serviceDomains } from './domains.ts';
import { type Deduplicated, type HostCandidate, withoutDuplicates } from './duplicates.ts';
import { virtualHost } from './virtual-host.ts';
import { type GeneratedRoutes, virtualServiceRoutes } from './virtual-service-routes.ts';

export interface GeneratedVirtualHosts {
  readonly virtualHosts: readonly VirtualHost[];
  readonly problems: readonly Problem[];
}

/** What is the same for every virtual host of a route configuration, asked for once. */
interface Context {
  readonly reader: ProxyReader;
  /** 0: all ports, and domains carry theirs. */
  readonly buildPort: number;
  readonly view: AddressView;
  readonly dnsDomain: string;
  readonly absoluteNames: boolean;
  readonly hashes: HashLookup;
  readonly retry: HTTPRetry | undefined;
  readonly options: RouteHeaderOptions;
}

interface Candidate extends HostCandidate {
  readonly port: number;
  readonly routes: GeneratedRoutes['routes'];
  readonly session: string;
}

/** undefined: a sidecar has no route configuration of this name. */
export function sidecarRoute(reader: ProxyReader, routeName: string): GeneratedVirtualHosts | undefined {
  const selected = reader.get(sidecarVirtualHosts, routeName);
  if (selected === undefined) return undefined;
  const { port, wrappers } = selected;
  const { sniffedHost } = selected.name;
  const context = contextOf(reader, port);
  const { kept, problems } = reader.about(hostsOfPort, { port, wrappers });
  const hosts: VirtualHost[] = [];
  for (const { candidate, domains } of kept) {
    const shown = port === 0 && candidate.port !== 80 ? domains.filter(domain => domain.includes(':')) : domains;
    const wanted = sniffedHost === undefined || shown.some(domain => domain === routeName || domain === sniffedHost);
    if (wanted && shown.length > 0) {
      hosts.push(makeHost(context, candidate.name, shown, candidate.routes, candidate.session));
    }
  }
  hosts.sort((a, b) => compareText(a.name ?? '', b.name ?? ''));
  const virtualHosts = sniffedHost === undefined ? [...hosts, catchAllHost(context)] : sniffed(context, hosts);
  return { virtualHosts, problems };
}

interface PortHosts {
  readonly port: number;
  readonly wrappers: readonly VirtualHostWrapper[];
}

/** What the route configurations of one port have in common: with sniffing there is one for every service on it. */
const hostsOfPort: Selection<PortHosts, Deduplicated<Candidate>> = {
  name: 'route/hostsOfPort',
  run: (reader, { port, wrappers }) => {
    const context = contextOf(reader, port);
    const problems: Problem[] = [];
    const candidates = wrappers.flatMap(wrapper => candidatesOf(context, wrapper, problems));
    const { kept, problems: conflicts } = withoutDuplicates(candidates, knownNames(wrappers));
    return { kept, problems: [...problems, ...conflicts] };
  },
};

function contextOf(reader: ProxyReader, buildPort: number): Context {
  return {
    reader,
    buildPort,
    view: reader.derived(addressView),
    dnsDomain: reader.facet('dnsDomain'),
    absoluteNames: reader.feature('PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN'),
    hashes: hashLookup(reader),
    retry: reader.mesh('defaultHttpRetryPolicy'),
    options: reader.derived(routeHeaderOptions),
  };
}

function candidatesOf(context: Context, wrapper: VirtualHostWrapper, problems: Problem[]): readonly Candidate[] {
  const { port } = wrapper;
  const shared = wrapper.routes === undefined ? undefined : context.reader.make(virtualServiceRoutes, wrapper.routes);
  problems.push(...(shared?.problems ?? []));
  const candidates: Candidate[] = [];
  for (const host of shared === undefined ? [] : wrapper.hosts) {
    const name = `${asDomain(host.toLowerCase())}:${port}`;
    candidates.push({ name, port, domains: [asDomain(host)], derived: [], routes: shared!.routes, session: '' });
  }
  for (const service of wrapper.services) {
    const { routes } = shared ?? serviceRoutes(context, service.hostname, port);
    const { domains, derived } = domainsFor(context, service, port);
    const session = sessionOf(context.reader, service);
    candidates.push({ name: `${asDomain(service.hostname)}:${port}`, port, domains, derived, routes, session });
  }
  return candidates;
}

function serviceRoutes({ reader, hashes, retry }: Context, hostname: string, port: number): GeneratedRoutes {
  return reader.make(defaultRoutes, { hostname, port, hash: hashes.of(hostname, '', port), retry });
}

function domainsFor(context: Context, service: Service, port: number): Domains {
  const { view, dnsDomain, absoluteNames } = context;
  const withPort = context.buildPort === 0 ? port : 0;
  const near = relevantDomain(service, dnsDomain);
  return context.reader.make(serviceDomains, { service, view, withPort, dnsDomain: near, absoluteNames });
}

function makeHost(
  { reader, options }: Context,
  name: string,
  domains: readonly string[],
  routes: readonly Route[],
  session: string,
): VirtualHost {
  const { attemptCount } = options;
  return reader.make(virtualHost, { name, domains, routes, attemptCount, requireTls: false, session });
}

function knownNames(wrappers: readonly VirtualHostWrapper[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { services, port } of wrappers) {
    for (const { hostname } of services) names.add(hostname).add(`${asDomain(hostname)}:${port}`);
  }
  return names;
}

/** A sniffed port is of one service, whatever a request calls it: its virtual host takes every domain. */
function sniffed(context: Context, found: readonly VirtualHost[]): readonly VirtualHost[] {
  const [only] = found;
  if (only === undefined || found.length > 1) return found;
  return [context.reader.make(forEveryDomain, { only })];
}

const forEveryDomain: Generator<{ readonly only: VirtualHost }, VirtualHost> = {
  name: 'route/forEveryDomain',
  run: ({ only }) => ({ ...only, domains: ['*'] }),
};

function catchAllHost({ reader, options }: Context): VirtualHost {
  const { mode, egressProxy } = reader.get(scopeSettings, '').outboundTrafficPolicy;
  const egressCluster =
    egressProxy === undefined
      ? ''
      : outboundClusterName(egressProxy.host ?? '', egressProxy.subset ?? '', egressProxy.port?.number ?? 0);
  return reader.make(catchAll, { allowAny: mode === 'ALLOW_ANY', egressCluster, ...options });
}
