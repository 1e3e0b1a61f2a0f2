// Which outbound listeners a sidecar has and which chains each holds: services that share an address and port are
// merged in their order.
// Source: Istio pilot/pkg/networking/core/listener.go (buildSidecarOutboundListeners).
//
// Plans only: nothing is generated here. The order of services decides conflicts, so the plan is computed as a whole;
// messages made of an unchanged plan keep their identity.

import { compareText } from '../../model/object.ts';
import { isHttp, isTcp, protocolOf } from '../../model/protocol.ts';
import type { Port, Service } from '../../model/service.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import type { IstioEgressListener } from '../../schema/istio-types.gen.ts';
import { addressView, allAddresses, NO_ADDRESS, singleAddress } from '../nametable/service-addresses.ts';
import { interceptionMode } from '../proxy/proxy-config.ts';
import { type EgressListener, sidecarScope } from '../scope/sidecar-scope.ts';
import type { ResolvedVirtualService } from '../scope/virtual-services.ts';
import { headlessBinds } from './headless-listeners.ts';
import { isPrivilegedPort, isReservedPort, localhosts, wildcards } from './listener-addresses.ts';
import { type BoundPort, type ChainPlan, dynamicHostOf, tcpChains, tcpVirtualServices } from './outbound-chains.ts';
import { type EntryClass, type NamedPlan, OutboundEntries, type OutboundListenerPlan } from './outbound-entries.ts';

/** Sorted by name of the listener. */
export const outboundListenerPlans: Query<'', readonly OutboundListenerPlan[]> = {
  name: 'select/outboundListenerPlans',
  run: reader => [...reader.get(namedPlans, '')].sort(([a], [b]) => compareText(a, b)).map(([, plan]) => plan),
};

/** A query of its own: of tens of thousands of ports both the merger and the sorting take a slice. */
const namedPlans: Query<'', readonly NamedPlan[]> = {
  name: 'select/namedListenerPlans',
  run: reader => {
    const entries = new OutboundEntries();
    const listeners = reader.get(egressServices, '');
    for (let i = 0; i < listeners.length; i++) addEgress(reader, entries, listeners[i]!, i);
    return entries.plans();
  },
};

type EgressServices = Pick<EgressListener, 'spec' | 'services'>;

/**
 * The egress listeners without their VirtualServices, most of which only concern HTTP: no listener depends on those.
 */
const egressServices: Query<'', readonly EgressServices[]> = {
  name: 'select/egressListenerServices',
  run: reader => reader.get(sidecarScope, '').egressListeners.map(({ spec, services }) => ({ spec, services })),
};

/** Argument: the place of the egress listener among all. */
const egressTcpRules: Query<string, readonly ResolvedVirtualService[]> = {
  name: 'select/egressTcpRules',
  run: (reader, place) =>
    tcpVirtualServices(reader.get(sidecarScope, '').egressListeners[Number(place)]?.virtualServices ?? []),
};

/** Settings of an egress listener for all of its ports. */
interface EgressView {
  readonly spec: IstioEgressListener;
  readonly bindToPort: boolean;
  /** Empty: chosen for each service. */
  readonly binds: readonly string[];
  /** The wildcard addresses of the proxy. */
  readonly wildcards: readonly [string, ...string[]];
  /** Computed for the first port that is not plain HTTP. */
  readonly tcpRules: () => readonly ResolvedVirtualService[];
}

const UNIX_PREFIX = 'unix://';

function addEgress(reader: ProxyReader, entries: OutboundEntries, egress: EgressServices, place: number): void {
  const spec = (egress.spec ?? {}) as IstioEgressListener;
  const bind = spec.bind ?? '';
  const bindToPort = interceptionMode(reader) === 'NONE' || spec.captureMode === 'NONE' || bind.startsWith(UNIX_PREFIX);
  let rules: readonly ResolvedVirtualService[] | undefined;
  const view: EgressView = {
    spec,
    bindToPort,
    binds: bind !== '' ? [bind] : bindToPort ? localhosts(reader) : [],
    wildcards: wildcards(reader),
    tcpRules: () => {
      rules ??= reader.get(egressTcpRules, String(place));
      return rules;
    },
  };
  const own = portOf(spec);
  if (own === undefined) entries.lock();
  const { services } = egress;
  for (let i = 0; i < services.length; i++) {
    const service = services[i]!;
    const ports = own === undefined ? service.ports : [own];
    for (let j = 0; j < ports.length; j++) addPort(reader, entries, view, service, ports[j]!);
  }
}

function portOf(spec: IstioEgressListener): Port | undefined {
  if (spec.port === undefined) return undefined;
  const { number = 0, protocol = '', name = '' } = spec.port;
  return { port: number, name, protocol: protocolOf(protocol) };
}

function classOf(port: Port): EntryClass | undefined {
  if (isHttp(port.protocol)) return 'HTTP';
  if (isTcp(port.protocol)) return 'TCP';
  return port.protocol === 'UDP' ? undefined : 'auto';
}

function addPort(reader: ProxyReader, entries: OutboundEntries, view: EgressView, service: Service, port: Port): void {
  const kind = classOf(port);
  if (kind === undefined || service.resolution === 'Alias') return;
  if (kind === 'HTTP') {
    addHttpPort(reader, entries, view, service, port);
    return;
  }
  if (!canBind(reader, view, port, kind)) return;
  const address = singleAddress(service, reader.derived(addressView));
  // A port that the Sidecar names is one listener for all of its services.
  const catchAll = view.binds.length === 0 && view.spec.port === undefined;
  const headless = catchAll && address === NO_ADDRESS && service.resolution === 'Passthrough';
  const perEndpoint = headless ? headlessBinds(reader, service, port) : undefined;
  if (perEndpoint !== undefined) {
    for (const binds of perEndpoint) {
      const bound: BoundPort = { service, port, cidrs: [], wildcardBind: false };
      entries.add(entryOf(reader, view, bound, binds, kind));
    }
    return;
  }
  const { binds, cidrs } = bindOf(reader, view, service, address);
  const wildcardBind = isRange(address) || (isWildcardAddress(reader, address) && binds[0] === wildcards(reader)[0]);
  entries.add(entryOf(reader, view, { service, port, cidrs, wildcardBind }, binds, kind));
}

function addHttpPort(
  reader: ProxyReader,
  entries: OutboundEntries,
  view: EgressView,
  service: Service,
  port: Port,
): void {
  const binds = nonEmpty(view.binds) ?? view.wildcards;
  if (port.protocol !== 'HTTP_PROXY' && entries.absorbsHttp(binds[0], port.port)) return;
  if (!canBind(reader, view, port, 'HTTP')) return;
  const bound: BoundPort = { service, port, cidrs: [], wildcardBind: false };
  entries.add(entryOf(reader, view, bound, binds, 'HTTP'));
}

/** False for ports that the proxy keeps for itself or has no right to open. */
function canBind(reader: ProxyReader, view: EgressView, port: Port, kind: EntryClass): boolean {
  if (view.bindToPort && isPrivilegedPort(reader, port.port)) return false;
  const [bind] = view.binds;
  const anyAddress = bind === undefined ? kind === 'HTTP' : bind === wildcards(reader)[0];
  return !(anyAddress && isReservedPort(reader, port.port, true));
}

function isWildcardAddress(reader: ProxyReader, address: string): boolean {
  return address === NO_ADDRESS || address === wildcards(reader)[0];
}

interface Binding {
  readonly binds: readonly [string, ...string[]];
  readonly cidrs: readonly string[];
}

function bindOf(reader: ProxyReader, view: EgressView, service: Service, address: string): Binding {
  // Traffic to a chosen address is for all services there: its original destination is unknown.
  const given = nonEmpty(view.binds);
  if (given !== undefined) return { binds: given, cidrs: [] };
  const others = allAddresses(service, reader.derived(addressView)).slice(1);
  if (isRange(address)) return { binds: wildcards(reader), cidrs: [address, ...others] };
  const external = service.registry === 'External';
  if (external && isWildcardAddress(reader, address)) return { binds: wildcards(reader), cidrs: [] };
  return { binds: [address, ...others], cidrs: [] };
}

function isRange(address: string): boolean {
  return address.includes('/');
}

function nonEmpty(list: readonly string[]): readonly [string, ...string[]] | undefined {
  return list.length > 0 ? (list as readonly [string, ...string[]]) : undefined;
}

function entryOf(
  reader: ProxyReader,
  view: EgressView,
  bound: BoundPort,
  binds: readonly [string, ...string[]],
  kind: EntryClass,
): Parameters<OutboundEntries['add']>[0] {
  const { service, port } = bound;
  const wildcard = binds[0] === view.wildcards[0];
  const proxyPort = port.protocol === 'HTTP_PROXY';
  const sniffed = kind === 'auto' || (kind === 'HTTP' && wildcard && !proxyPort);
  const http: ChainPlan = {
    kind: 'http',
    sniffed,
    routeName: routeName(bound, binds[0], kind, wildcard),
    protocol: port.protocol,
    dynamicHost: dynamicHostOf(service),
  };
  const chains: ChainPlan[] = kind === 'HTTP' ? [] : [...tcpChains(reader, bound, view.tcpRules())];
  if (kind !== 'TCP') chains.push(http);
  return {
    plan: { binds, port: port.port, bindToPort: view.bindToPort, service, servicePort: port, chains, conflicts: [] },
    incoming: kind,
    settled: kind === 'HTTP' && sniffed ? 'auto' : kind,
    replaces: proxyPort,
  };
}

function routeName(bound: BoundPort, bind: string, kind: EntryClass, wildcard: boolean): string {
  if (bound.port.port === 0) return bind;
  if (kind === 'auto' && !wildcard) return `${bound.service.hostname}:${bound.port.port}`;
  return String(bound.port.port);
}
