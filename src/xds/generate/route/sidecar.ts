// The outbound route configuration of a sidecar: its virtual hosts, made one by one, without duplicates, by name, the catch-all last.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildSidecarOutboundHTTPRouteConfig); spec-routes-visibility §1-5.

import type { Service } from '../../../core/model/service.ts';
import { compareText } from '../../../core/object.ts';
import type { Problem } from '../../../core/problem.ts';
import type { ProxyReader } from '../../../core/reader.ts';
import { outboundClusterName } from '../../../core/select/cluster-names.ts';
import { consistentHash } from '../../../core/select/consistent-hash.ts';
import { routeHeaderOptions } from '../../../core/select/proxy-headers.ts';
import { addressView, allAddresses, frozenAddresses } from '../../../core/select/service-addresses.ts';
import { sidecarScope } from '../../../core/select/sidecar-scope.ts';
import {
  type SidecarVirtualHosts,
  sidecarVirtualHosts,
  type VirtualHostWrapper,
} from '../../../core/select/sidecar-virtual-hosts.ts';
import type { VirtualHost } from '../../proto/types.gen.ts';
import { catchAll } from './catch-all.ts';
import { defaultRoutes } from './default-route.ts';
import { asDomain, serviceDomains } from './domains.ts';
import { type HostCandidate, withoutDuplicates } from './duplicates.ts';
import { virtualHost } from './virtual-host.ts';
import { type GeneratedRoutes, virtualServiceRoutes } from './virtual-service-routes.ts';

export interface GeneratedVirtualHosts {
  readonly virtualHosts: readonly VirtualHost[];
  readonly problems: readonly Problem[];
}

interface Candidate extends HostCandidate {
  readonly port: number;
  readonly routes: GeneratedRoutes['routes'];
}

/** undefined: a sidecar has no route configuration of this name. */
export function sidecarRoute(reader: ProxyReader, routeName: string): GeneratedVirtualHosts | undefined {
  const selected = reader.get(sidecarVirtualHosts, routeName);
  if (selected === undefined) return undefined;
  const problems: Problem[] = [];
  const candidates: Candidate[] = [];
  for (const wrapper of selected.wrappers) candidates.push(...candidatesOf(reader, wrapper, selected.port, problems));
  const { kept, problems: conflicts } = withoutDuplicates(candidates, knownNames(selected.wrappers));
  problems.push(...conflicts);
  const hosts: VirtualHost[] = [];
  for (const { candidate, domains } of kept) {
    const shown =
      selected.port === 0 && candidate.port !== 80 ? domains.filter(domain => domain.includes(':')) : domains;
    if (shown.length > 0) hosts.push(makeHost(reader, candidate, shown));
  }
  hosts.sort((a, b) => compareText(a.name ?? '', b.name ?? ''));
  if (selected.name.sniffedHost !== undefined)
    return { virtualHosts: sniffed(reader, routeName, selected, hosts), problems };
  return { virtualHosts: [...hosts, catchAllHost(reader)], problems };
}

function candidatesOf(
  reader: ProxyReader,
  wrapper: VirtualHostWrapper,
  buildPort: number,
  problems: Problem[],
): readonly Candidate[] {
  const { port } = wrapper;
  const shared = wrapper.routes === undefined ? undefined : reader.make(virtualServiceRoutes, wrapper.routes);
  problems.push(...(shared?.problems ?? []));
  const candidates: Candidate[] = [];
  for (const host of shared === undefined ? [] : wrapper.hosts) {
    const name = `${asDomain(host.toLowerCase())}:${port}`;
    candidates.push({ name, port, domains: [asDomain(host)], derived: [], routes: shared!.routes });
  }
  for (const service of wrapper.services) {
    const routes = shared ?? serviceRoutes(reader, service, port);
    const { domains, derived } = domainsFor(reader, service, port, buildPort);
    candidates.push({ name: `${asDomain(service.hostname)}:${port}`, port, domains, derived, routes: routes.routes });
  }
  return candidates;
}

function serviceRoutes(reader: ProxyReader, service: Service, port: number): GeneratedRoutes {
  return reader.make(defaultRoutes, {
    hostname: service.hostname,
    port,
    hash: reader.get(consistentHash, `${service.hostname}||${port}`),
    retry: reader.mesh('defaultHttpRetryPolicy'),
  });
}

function domainsFor(
  reader: ProxyReader,
  service: Service,
  port: number,
  buildPort: number,
): { readonly domains: readonly string[]; readonly derived: readonly string[] } {
  const view = reader.derived(addressView);
  return reader.make(serviceDomains, {
    hostname: service.hostname,
    aliases: service.aliases.map(alias => alias.hostname),
    addresses: buildPort === 0 ? allAddresses(service, view) : frozenAddresses(service, view),
    withPort: buildPort === 0 ? port : 0,
    subdomains: service.resolution === 'Passthrough' && service.registry === 'Kubernetes',
    dnsDomain: reader.facet('dnsDomain'),
    absoluteNames: reader.feature('PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN'),
  });
}

function makeHost(reader: ProxyReader, { name, routes }: Candidate, domains: readonly string[]): VirtualHost {
  const { attemptCount } = reader.derived(routeHeaderOptions);
  return reader.make(virtualHost, { name, domains, routes, attemptCount, requireTls: false });
}

function knownNames(wrappers: readonly VirtualHostWrapper[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { services, port } of wrappers) {
    for (const { hostname } of services) names.add(hostname).add(`${asDomain(hostname)}:${port}`);
  }
  return names;
}

/** A sniffed port is of one service, whatever a request calls it: its virtual host takes every domain. */
function sniffed(
  reader: ProxyReader,
  routeName: string,
  { name }: SidecarVirtualHosts,
  hosts: readonly VirtualHost[],
): readonly VirtualHost[] {
  const wanted = (domain: string): boolean => domain === routeName || domain === name.sniffedHost;
  const found = hosts.filter(host => host.domains?.some(wanted));
  const [only] = found;
  if (only === undefined || found.length > 1) return found;
  return [
    reader.make(virtualHost, {
      name: only.name ?? '',
      domains: ['*'],
      routes: only.routes ?? [],
      attemptCount: only.includeRequestAttemptCount === true,
      requireTls: false,
    }),
  ];
}

function catchAllHost(reader: ProxyReader): VirtualHost {
  const { mode, egressProxy } = reader.get(sidecarScope, '').outboundTrafficPolicy;
  const { attemptCount, appendXForwardedHost } = reader.derived(routeHeaderOptions);
  const egressCluster =
    egressProxy === undefined
      ? ''
      : outboundClusterName(egressProxy.host ?? '', egressProxy.subset ?? '', egressProxy.port?.number ?? 0);
  return reader.make(catchAll, { allowAny: mode === 'ALLOW_ANY', egressCluster, attemptCount, appendXForwardedHost });
}
