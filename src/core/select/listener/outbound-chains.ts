// The plans of the filter chains that one port of a service adds to an outbound listener: what each matches and where
// it leads.
// Source: Istio pilot/pkg/networking/core/tls.go. Chains are compared and merged as plans (outbound-listeners.ts),
// before any message is built.

import { isTls } from '../../model/protocol.ts';
import type { Port, Protocol, Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { proxySelectedBy } from '../../registry/workload.ts';
import type { L4MatchAttributes, VirtualService } from '../../schema/istio-types.gen.ts';
import { BoundVirtualServices } from '../gateway/bound-virtual-services.ts';
import { metadataText } from '../proxy/proxy-metadata.ts';
import { shortForms } from '../route/short-forms.ts';
import type { ResolvedVirtualService } from '../scope/virtual-services.ts';
import { ruleTcpRoute, serviceTcpRoute, type TcpRoute } from './tcp-routes.ts';

export interface HttpChainPlan {
  readonly kind: 'http';
  /** Matches HTTP by inspection; without it the chain takes everything. */
  readonly sniffed: boolean;
  readonly routeName: string;
  /** Of the port that brought the chain: listeners are shared. */
  readonly protocol: Protocol;
  /** Host of a DYNAMIC_DNS service whose address is looked up by the request's authority, else ''. */
  readonly dynamicHost: string;
}

export interface TcpChainPlan {
  readonly kind: 'tcp';
  readonly serverNames: readonly string[];
  /** `address/length` or plain addresses. */
  readonly cidrs: readonly string[];
  /** The VirtualService that the chain is made from. */
  readonly config?: { readonly namespace: string; readonly name: string };
  readonly route: TcpRoute;
  /** Of the port that brought the chain: listeners are shared. */
  readonly protocol: Protocol;
  /** Host of a DYNAMIC_DNS service whose address is looked up by SNI, else ''. */
  readonly dynamicHost: string;
}

export type ChainPlan = HttpChainPlan | TcpChainPlan;

/** A port of a service at the address where its listener binds. */
export interface BoundPort {
  readonly service: Service;
  /** Of the listener: a Sidecar's egress port can differ in name and protocol from the service's. */
  readonly port: Port;
  /** Ranges that the service's addresses are, if it has no plain address. */
  readonly cidrs: readonly string[];
  /**
   * The listener takes connections to any address, or the service's own are a range: the address does not identify the
   * service.
   */
  readonly wildcardBind: boolean;
}

/** Only VirtualServices with tcp or tls rules matter here. */
export function tcpVirtualServices(all: readonly ResolvedVirtualService[]): readonly ResolvedVirtualService[] {
  return all.filter(vs => {
    const spec = vs.spec as VirtualService;
    return (spec.tcp?.length ?? 0) > 0 || (spec.tls?.length ?? 0) > 0;
  });
}

export function tcpChains(
  reader: ProxyReader,
  bound: BoundPort,
  virtualServices: readonly ResolvedVirtualService[],
): readonly TcpChainPlan[] {
  const mine = boundToMesh(virtualServices).meeting([bound.service.hostname]);
  return isTls(bound.port.protocol) ? tlsChains(reader, bound, mine) : plainChains(reader, bound, mine);
}

const indexes = new WeakMap<readonly ResolvedVirtualService[], BoundVirtualServices>();

/** One for each list, which must not change. */
function boundToMesh(virtualServices: readonly ResolvedVirtualService[]): BoundVirtualServices {
  const known = indexes.get(virtualServices) ?? new BoundVirtualServices('mesh', virtualServices);
  indexes.set(virtualServices, known);
  return known;
}

/** The part of a match that does not look at the connection. */
function applies(reader: ProxyReader, match: L4MatchAttributes, port: number): boolean {
  if (match.port !== undefined && match.port !== 0 && match.port !== port) return false;
  const gateways = match.gateways ?? [];
  if (gateways.length > 0 && !gateways.includes('mesh')) return false;
  const namespace = match.sourceNamespace ?? '';
  if (namespace !== '' && namespace !== metadataText(reader, 'NAMESPACE')) return false;
  return proxySelectedBy(reader, match.sourceLabels ?? {});
}

function tlsChains(
  reader: ProxyReader,
  bound: BoundPort,
  virtualServices: readonly ResolvedVirtualService[],
): readonly TcpChainPlan[] {
  const chains: TcpChainPlan[] = [];
  const { protocol } = bound.port;
  const seen = new Set<string>();
  // Subnets of one match hold for later ones without subnets, as in Istio pilot/pkg/networking/core/tls.go.
  let cidrs = bound.cidrs;
  for (const vs of virtualServices) {
    for (const rule of (vs.spec as VirtualService).tls ?? []) {
      for (const match of rule.match ?? []) {
        if (!applies(reader, match, bound.port.port)) continue;
        const subnets = match.destinationSubnets ?? [];
        if (subnets.length > 0 && bound.port.port > 0) cidrs = subnets;
        // First match wins; a second chain with one of the names would make Envoy refuse the listener.
        const serverNames = (match.sniHosts ?? []).filter(host => !seen.has(`${host}|${cidrs.join(',')}`));
        if (serverNames.length === 0) continue;
        for (const host of serverNames) seen.add(`${host}|${cidrs.join(',')}`);
        const route = ruleTcpRoute(reader, rule.route ?? [], bound.port, vs);
        if (route !== undefined)
          chains.push({ kind: 'tcp', serverNames, cidrs, config: configOf(vs), route, protocol, dynamicHost: '' });
      }
    }
  }
  return chains.length > 0 ? chains : [defaultTlsChain(reader, bound)];
}

/** The host of a service that Envoy resolves on demand, always a wildcard, else ''. */
export function dynamicHostOf(service: Service): string {
  return service.resolution === 'DynamicDNS' ? service.hostname : '';
}

/** SNI distinguishes services that share an address. */
function defaultTlsChain(reader: ProxyReader, bound: BoundPort): TcpChainPlan {
  const { service } = bound;
  const shared = bound.wildcardBind || dynamicHostOf(service) !== '';
  return {
    kind: 'tcp',
    serverNames: shared ? [service.hostname, ...aliasNames(reader, service)] : [],
    cidrs: bound.cidrs,
    route: serviceTcpRoute(reader, service, bound.port.port),
    protocol: bound.port.protocol,
    dynamicHost: dynamicHostOf(service),
  };
}

/** Names under which clients of this namespace may ask for the aliases of a service. */
function aliasNames(reader: ProxyReader, service: Service): readonly string[] {
  return service.aliases.flatMap(({ hostname }) => [
    hostname,
    ...(reader.feature('PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN') ? [`${hostname}.`] : []),
    ...shortForms(hostname, reader.facet('dnsDomain')),
  ]);
}

function plainChains(
  reader: ProxyReader,
  bound: BoundPort,
  virtualServices: readonly ResolvedVirtualService[],
): readonly TcpChainPlan[] {
  const chains: TcpChainPlan[] = [];
  const { port, protocol } = bound.port;
  const claimed = new Set<string>();
  /** With a chain for the ranges of the service that no rule has claimed. */
  const withOwn = (to: Pick<TcpChainPlan, 'config' | 'route' | 'dynamicHost'>): readonly TcpChainPlan[] => {
    const cidrs = bound.cidrs.filter(cidr => !claimed.has(cidr));
    if (cidrs.length === 0 && bound.cidrs.length > 0) return chains;
    return [...chains, { kind: 'tcp', serverNames: [], cidrs, ...to, protocol }];
  };
  for (const vs of virtualServices) {
    for (const rule of (vs.spec as VirtualService).tcp ?? []) {
      const matching = (rule.match ?? []).filter(match => applies(reader, match, port));
      if ((rule.match ?? []).length > 0 && matching.length === 0) continue;
      const route = ruleTcpRoute(reader, rule.route ?? [], bound.port, vs);
      if (route === undefined) continue;
      const everything = matching.length === 0 || matching.some(match => (match.destinationSubnets ?? []).length === 0);
      if (everything || port === 0) return withOwn({ config: configOf(vs), route, dynamicHost: '' });
      // First match wins; a second chain with one of the subnets would make Envoy refuse the listener.
      const cidrs = unclaimed(
        matching.flatMap(match => match.destinationSubnets ?? []),
        claimed,
      );
      if (cidrs.length === 0) continue;
      chains.push({ kind: 'tcp', serverNames: [], cidrs, route, protocol, dynamicHost: '' });
    }
  }
  const route = serviceTcpRoute(reader, bound.service, port);
  return withOwn({ route, dynamicHost: dynamicHostOf(bound.service) });
}

/** Those that are new, each once; they count as claimed from then on. */
function unclaimed(subnets: readonly string[], claimed: Set<string>): readonly string[] {
  return subnets.filter(subnet => {
    const isNew = !claimed.has(subnet);
    claimed.add(subnet);
    return isNew;
  });
}

function configOf(vs: ResolvedVirtualService): TcpChainPlan['config'] {
  return { namespace: vs.namespace, name: vs.name };
}
