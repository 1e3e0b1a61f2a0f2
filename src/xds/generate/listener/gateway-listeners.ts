// Listeners of a gateway: one for each address and port that its Gateways serve (spec-listeners §10.3; Istio core/gateway.go).

import { compareText } from '../../../core/model/object.ts';
import { protocolOf } from '../../../core/model/protocol.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { isHttpServer, isPlainHttp } from '../../../core/select/gateway/gateway-servers.ts';
import {
  autoPassthroughRoutes,
  passthroughRoutes,
  type SniRoute,
  serverTcpRoute,
} from '../../../core/select/gateway/gateway-tcp-routes.ts';
import { type MergedServer, mergedGateway, type ServerGroup } from '../../../core/select/gateway/gateways.ts';
import { extraWildcards, isPrivilegedPort, wildcards } from '../../../core/select/listener/listener-addresses.ts';
import type { TcpRoute } from '../../../core/select/listener/tcp-routes.ts';
import { gatewayTopology } from '../../../core/select/proxy/proxy-config.ts';
import {
  type AccessLog,
  type Filter,
  type FilterChain,
  type Listener,
  type ListenerFilter,
  TrafficDirection,
  type TransportSocket,
} from '../../proto/types.gen.ts';
import { durationOfMs } from '../common/duration.ts';
import { accessLogsOf, listenerAccessLogs, orNone } from './access-log.ts';
import { MESH_ALL } from './alpn.ts';
import { distinctChains } from './distinct-chains.ts';
import { gatewayQuicSocket, gatewayTlsSocket } from './gateway-tls.ts';
import { httpConnectionManager } from './http-connection-manager.ts';
import { proxyProtocol, tlsInspector } from './listener-filters.ts';
import {
  additionalAddresses,
  listenerAddress,
  listenerName,
  type SocketSettings,
  socketFields,
} from './listener-parts.ts';
import { networkFilters } from './network-filters.ts';
import { connectTimeoutMs } from './outbound-listeners.ts';
import { quicListener } from './quic-listener.ts';
import { socketSettings } from './socket-settings.ts';
import { terminalFilters } from './tcp-proxy.ts';

/** Sorted by name. A server without anything to serve has no listener. */
export const gatewayListeners: Query<'', readonly Resource<Listener>[]> = {
  name: 'generate/gatewayListeners',
  run: reader => {
    const { groups, refused } = reader.get(mergedGateway, '');
    const byAddress = new Map<string, ServerGroup[]>();
    for (const group of groups) {
      if (isPrivilegedPort(reader, group.port)) continue;
      const name = listenerName(bindOf(reader, group), group.port);
      byAddress.set(name, [...(byAddress.get(name) ?? []), group]);
    }
    const listeners: Resource<Listener>[] = [];
    for (const [name, sharing] of [...byAddress].sort((a, b) => compareText(a[0], b[0]))) {
      const problems = refused
        .filter(server => server.port === sharing[0]!.port)
        .map(server => `Gateway ${server.gateway}, server ${server.server}: ${server.message}`);
      const listener = listenerOf(reader, name, sharing, problems);
      if (listener !== undefined) listeners.push(listener);
      const quic = quicListenerOf(reader, `udp_${name}`, sharing);
      if (quic !== undefined) listeners.push(quic);
    }
    return listeners.sort((a, b) => compareText(a.name, b.name));
  },
};

function bindOf(reader: ProxyReader, group: ServerGroup): string {
  return group.bind === '' ? wildcards(reader)[0] : group.bind;
}

function listenerOf(
  reader: ProxyReader,
  name: string,
  groups: readonly ServerGroup[],
  problems: readonly string[],
): Resource<Listener> | undefined {
  const first = groups[0]!;
  const used = new Set<string>();
  const { chains, lost } = distinctChains(
    reader,
    groups.flatMap(group => groupChains(reader, name, group, used)),
  );
  if (chains.length === 0) return undefined;
  const told = lost.map(host => `${host === '' ? 'any host' : host} is of an earlier server of the port`);
  return reader.make(gatewayListener, {
    name,
    bind: bindOf(reader, first),
    moreBinds: first.bind === '' ? extraWildcards(reader) : [],
    port: first.port,
    chains,
    // A name that says any host narrows no chain, but asks for the inspector as others do.
    inspectsTls: used.size > 0 || chains.some(inspectsTls),
    proxyProtocol: reader.derived(gatewayTopology).proxyProtocol !== undefined,
    accessLog: listenerAccessLogs(reader, 'gateway'),
    problems: [...problems, ...told],
    ...socketSettings(reader, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
  });
}

/** The servers that are offered over QUIC too, on the same port of UDP. */
function quicListenerOf(
  reader: ProxyReader,
  name: string,
  groups: readonly ServerGroup[],
): Resource<Listener> | undefined {
  const first = groups[0]!;
  const chains: FilterChain[] = [];
  for (const merged of groups.flatMap(group => group.servers)) {
    const socket = merged.http3 ? gatewayQuicSocket(reader, merged.server) : undefined;
    if (socket !== undefined) chains.push(httpChain(reader, name, merged, socket, 'quic'));
  }
  if (chains.length === 0) return undefined;
  return reader.make(quicListener, {
    name,
    bind: bindOf(reader, first),
    moreBinds: first.bind === '' ? extraWildcards(reader) : [],
    port: first.port,
    chains: distinctChains(reader, chains).chains,
    accessLog: listenerAccessLogs(reader, 'gateway'),
    ...socketSettings(reader, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
    exactBalance: false,
  });
}

/** `used` collects the SNI hosts of passthrough routes: a second route for one of them could never be reached. */
function groupChains(reader: ProxyReader, name: string, group: ServerGroup, used: Set<string>): readonly FilterChain[] {
  const first = group.servers[0]!;
  // Plain HTTP servers of a port are one chain: their hosts come with the routes.
  if (isPlainHttp(first.server)) return [httpChain(reader, name, first, undefined, 'tcp')];
  return group.servers.flatMap(server => serverChains(reader, name, server, used));
}

function serverChains(
  reader: ProxyReader,
  name: string,
  merged: MergedServer,
  used: Set<string>,
): readonly FilterChain[] {
  const { server } = merged;
  if (isHttpServer(server)) {
    const socket = gatewayTlsSocket(reader, server);
    return socket === undefined ? [] : [httpChain(reader, name, merged, socket, 'tcp')];
  }
  if (server.tls === undefined) return tcpChain(reader, merged, serverTcpRoute(reader, merged), undefined);
  switch (server.tls.mode ?? 'PASSTHROUGH') {
    case 'PASSTHROUGH':
      return passthroughRoutes(reader, merged)
        .filter(route => isNew(route, used))
        .map(route => sniChain(reader, merged, route));
    case 'AUTO_PASSTHROUGH':
      return autoPassthroughRoutes(reader, merged).map(route => autoChain(reader, route));
    default: {
      const socket = gatewayTlsSocket(reader, server);
      return socket === undefined ? [] : tcpChain(reader, merged, serverTcpRoute(reader, merged), socket);
    }
  }
}

function isNew(route: SniRoute, used: Set<string>): boolean {
  if (route.serverNames.some(host => used.has(host))) return false;
  for (const host of route.serverNames) used.add(host);
  return true;
}

function httpChain(
  reader: ProxyReader,
  name: string,
  merged: MergedServer,
  socket: TransportSocket | undefined,
  transport: 'tcp' | 'quic',
): FilterChain {
  const { server } = merged;
  const own = socket === undefined ? '' : (server.name ?? '');
  const hcm = httpConnectionManager(reader, {
    traffic: 'gateway',
    grpcWeb: protocolOf(server.port?.protocol ?? '') === 'GRPC-Web',
    dynamicForwardProxy: '',
    httpProxy: false,
    statPrefix: own === '' ? `outbound_${name};` : own,
    routes: merged.routeName,
    http2: false,
    http3: transport === 'quic',
  });
  return chainOf(reader, socket === undefined ? [] : merged.sniHosts, [], socket, [hcm]);
}

function tcpChain(
  reader: ProxyReader,
  merged: MergedServer,
  route: TcpRoute | undefined,
  socket: TransportSocket | undefined,
): readonly FilterChain[] {
  if (route === undefined) return [];
  const serverNames = socket === undefined ? [] : merged.sniHosts;
  return [chainOf(reader, serverNames, [], socket, tcpStack(reader, merged, route))];
}

function sniChain(reader: ProxyReader, merged: MergedServer, { serverNames, route }: SniRoute): FilterChain {
  return chainOf(reader, serverNames, [], undefined, tcpStack(reader, merged, route));
}

/** Mesh mTLS that goes on to another network as it is. */
function autoChain(reader: ProxyReader, { serverNames, route, protocol }: SniRoute): FilterChain {
  const accessLog = reader.get(accessLogsOf, 'gateway').tcp;
  const filters = [
    ...networkFilters(reader, { traffic: 'gateway', exchange: false, authorized: false }),
    ...terminalFilters(reader, route, { accessLog, protocol }),
  ];
  return chainOf(reader, serverNames, MESH_ALL, undefined, filters);
}

function tcpStack(reader: ProxyReader, merged: MergedServer, route: TcpRoute): readonly Filter[] {
  const accessLog = reader.get(accessLogsOf, 'gateway').tcp;
  const protocol = protocolOf(merged.server.port?.protocol ?? '');
  return [
    ...networkFilters(reader, {
      traffic: 'gateway',
      exchange: merged.server.tls?.mode === 'ISTIO_MUTUAL',
      authorized: true,
    }),
    ...terminalFilters(reader, route, { accessLog, protocol }),
  ];
}

function chainOf(
  reader: ProxyReader,
  serverNames: readonly string[],
  alpn: readonly string[],
  socket: TransportSocket | undefined,
  filters: readonly Filter[],
): FilterChain {
  return reader.make(gatewayChain, {
    serverNames: serverNames.includes('*') ? [] : [...serverNames].sort(compareText),
    alpn,
    socket,
    filters,
    connectTimeoutMs: connectTimeoutMs(reader),
  });
}

interface GatewayChainInputs {
  readonly serverNames: readonly string[];
  readonly alpn: readonly string[];
  readonly socket: TransportSocket | undefined;
  readonly filters: readonly Filter[];
  readonly connectTimeoutMs: number;
}

const gatewayChain: Generator<GatewayChainInputs, FilterChain> = {
  name: 'listener/gatewayChain',
  run: ({ serverNames, alpn, socket, filters, connectTimeoutMs }) => ({
    filterChainMatch:
      serverNames.length === 0 && alpn.length === 0
        ? undefined
        : { serverNames: orNone(serverNames), applicationProtocols: orNone(alpn) },
    transportSocket: socket,
    filters,
    transportSocketConnectTimeout: connectTimeoutMs === 0 ? undefined : durationOfMs(connectTimeoutMs),
  }),
};

interface GatewayListenerInputs extends SocketSettings {
  readonly name: string;
  readonly bind: string;
  readonly moreBinds: readonly string[];
  readonly port: number;
  readonly chains: readonly FilterChain[];
  readonly inspectsTls: boolean;
  readonly proxyProtocol: boolean;
  readonly accessLog: readonly AccessLog[] | undefined;
  readonly problems: readonly string[];
}

const gatewayListener: Generator<GatewayListenerInputs, Resource<Listener>> = {
  name: 'listener/gateway',
  run: inputs => {
    const filters: ListenerFilter[] = [];
    if (inputs.proxyProtocol) filters.push(proxyProtocol);
    if (inputs.inspectsTls) filters.push(tlsInspector);
    const message: Listener = {
      name: inputs.name,
      address: listenerAddress(inputs.bind, inputs.port),
      additionalAddresses: additionalAddresses(inputs.moreBinds, inputs.port),
      trafficDirection: TrafficDirection.OUTBOUND,
      accessLog: inputs.accessLog,
      listenerFilters: orNone(filters),
      filterChains: inputs.chains,
      ...socketFields(inputs),
    };
    return { name: inputs.name, message, problems: inputs.problems.map(message => ({ path: '', message })) };
  },
};

function inspectsTls(chain: FilterChain): boolean {
  return chain.transportSocket !== undefined || (chain.filterChainMatch?.serverNames?.length ?? 0) > 0;
}
