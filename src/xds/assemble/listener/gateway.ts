// Listeners of a gateway: makes the filter chains of the servers on each address and port, then the listener around
// them, and a second one for QUIC.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayListeners).

import { joined } from '../../../core/base/groups.ts';
import { compareText } from '../../../core/model/object.ts';
import { protocolOf } from '../../../core/model/protocol.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader, Query, Selection } from '../../../core/query/reader.ts';
import { isHttpServer, isPlainHttp } from '../../../core/select/gateway/gateway-servers.ts';
import {
  autoPassthroughRoutes,
  passthroughRoutes,
  type SniRoute,
  serverTcpRoute,
} from '../../../core/select/gateway/gateway-tcp-routes.ts';
import type { MergedServer, ServerGroup } from '../../../core/select/gateway/gateways.ts';
import { MESH_ALL } from '../../../core/select/listener/alpn.ts';
import {
  type GatewayListenerPlan,
  gatewayListenerPlans,
  takesProxyProtocol,
} from '../../../core/select/listener/gateway-listeners.ts';
import { socketSettings, transportConnectTimeoutMs } from '../../../core/select/listener/listener-settings.ts';
import type { TcpRoute } from '../../../core/select/listener/tcp-routes.ts';
import { distinctChains, narrowedChain } from '../../generate/listener/distinct-chains.ts';
import { gatewayChain, gatewayListener, inspectsTls } from '../../generate/listener/gateway-listeners.ts';
import { quicListener } from '../../generate/listener/quic-listener.ts';
import type { Filter, FilterChain, Listener, TransportSocket } from '../../proto/types.gen.ts';
import { accessLogsOf, listenerAccessLogs } from './access-log.ts';
import { extensionsBeforeHttp, portOfExtensions } from './extension-filters.ts';
import { networkFilters, terminalFilters } from './filters.ts';
import { httpConnectionManager } from './http-connection-manager.ts';
import { gatewayTlsSocket } from './tls.ts';

/** Sorted by name. A server without anything to serve has no listener. */
export const gatewayListeners: Query<'', readonly Resource<Listener>[]> = {
  name: 'listener/gatewayListeners',
  run: reader =>
    joined(reader.selectEach(listenersOfPlan, reader.get(gatewayListenerPlans, ''))).sort((a, b) =>
      compareText(a.name, b.name),
    ),
};

/** Each is a selection, so that a gateway with thousands of ports has its listeners made in slices. */
const listenersOfPlan: Selection<GatewayListenerPlan, readonly Resource<Listener>[]> = {
  name: 'listener/listenersOfPlan',
  run: (reader, plan) => [tcpListenerOf(reader, plan) ?? [], quicListenerOf(reader, plan) ?? []].flat(),
};

function tcpListenerOf(reader: ProxyReader, plan: GatewayListenerPlan): Resource<Listener> | undefined {
  const { name, bind, moreBinds, port, groups, problems } = plan;
  const passthrough = reader.select(passthroughRoutes, { groups });
  const { chains, lost } = distinctOf(
    reader,
    groups.flatMap((group, i) => groupChains(reader, name, group, passthrough[i]!)),
  );
  if (chains.length === 0) return undefined;
  const conflicts = lost.map(host => `${host === '' ? 'any host' : host} is of an earlier server of the port`);
  return reader.make(gatewayListener, {
    name,
    bind,
    moreBinds,
    port,
    chains,
    // An SNI host `*` narrows no chain, but needs the TLS inspector as others do.
    inspectsTls: passthrough.flat(2).some(({ serverNames }) => serverNames.length > 0) || chains.some(inspectsTls),
    proxyProtocol: takesProxyProtocol(reader),
    accessLog: listenerAccessLogs(reader, 'gateway'),
    problems: [...problems, ...conflicts],
    ...socketSettings(reader, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
  });
}

/** The servers that are offered over QUIC too, on the UDP port of the same number. */
function quicListenerOf(reader: ProxyReader, plan: GatewayListenerPlan): Resource<Listener> | undefined {
  const name = `udp_${plan.name}`;
  const { bind, moreBinds, port } = plan;
  const chains: FilterChain[] = [];
  for (const merged of plan.groups.flatMap(group => group.servers)) {
    const socket = merged.http3 ? gatewayTlsSocket(reader, merged.server, true) : undefined;
    if (socket !== undefined) chains.push(httpChain(reader, name, merged, socket, 'quic'));
  }
  if (chains.length === 0) return undefined;
  return reader.make(quicListener, {
    name,
    bind,
    moreBinds,
    port,
    chains: distinctOf(reader, chains).chains,
    accessLog: listenerAccessLogs(reader, 'gateway'),
    ...socketSettings(reader, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
    exactBalance: false,
  });
}

function distinctOf(reader: ProxyReader, chains: readonly FilterChain[]): ReturnType<typeof distinctChains> {
  return distinctChains(chains, (chain, serverNames) => reader.make(narrowedChain, { chain, serverNames }));
}

/** `passthrough`: the routes of each server of the group. */
function groupChains(
  reader: ProxyReader,
  name: string,
  group: ServerGroup,
  passthrough: readonly (readonly SniRoute[])[],
): readonly FilterChain[] {
  const first = group.servers[0]!;
  // Plain HTTP servers of a port are one chain: their hosts come with the routes.
  if (isPlainHttp(first.server)) return [httpChain(reader, name, first, undefined, 'tcp')];
  return group.servers.flatMap((server, i) => serverChains(reader, name, server, passthrough[i]!));
}

function serverChains(
  reader: ProxyReader,
  name: string,
  merged: MergedServer,
  passthrough: readonly SniRoute[],
): readonly FilterChain[] {
  const { server } = merged;
  if (isHttpServer(server)) {
    const socket = gatewayTlsSocket(reader, server, false);
    return socket === undefined ? [] : [httpChain(reader, name, merged, socket, 'tcp')];
  }
  if (server.tls === undefined) return tcpChain(reader, merged, serverTcpRoute(reader, merged), undefined);
  switch (server.tls.mode ?? 'PASSTHROUGH') {
    case 'PASSTHROUGH':
      return reader.selectEach(sniChain, passthrough);
    case 'AUTO_PASSTHROUGH':
      return reader.selectEach(autoChain, autoPassthroughRoutes(reader, merged));
    default: {
      const socket = gatewayTlsSocket(reader, server, false);
      return socket === undefined ? [] : tcpChain(reader, merged, serverTcpRoute(reader, merged), socket);
    }
  }
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
  const extensionPort = portOfExtensions(reader, merged.port);
  const hcm = httpConnectionManager(reader, {
    traffic: 'gateway',
    grpcWeb: protocolOf(server.port?.protocol ?? '') === 'GRPC-Web',
    dynamicForwardProxy: '',
    httpProxy: false,
    statPrefix: own === '' ? `outbound_${name};` : own,
    routes: merged.routeName,
    http2: false,
    http3: transport === 'quic',
    extensionPort,
  });
  // Unlike in Istio, every HTTPS server of a port has them, not only the first.
  const extensions = transport === 'quic' ? [] : extensionsBeforeHttp(reader, 'gateway', extensionPort);
  return chainOf(reader, socket === undefined ? [] : merged.sniHosts, [], socket, [...extensions, hcm]);
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

/** Each is a selection, so that a gateway with thousands of them is made in slices. */
const sniChain: Selection<SniRoute, FilterChain> = {
  name: 'listener/sniChain',
  run: (reader, { serverNames, route, port, protocol }) =>
    chainOf(
      reader,
      serverNames,
      [],
      undefined,
      tcpFilters(reader, { exchange: false, policiesBeside: '', port, protocol }, route),
    ),
};

/** Mesh mTLS that goes on to another network as it is. */
const autoChain: Selection<SniRoute, FilterChain> = {
  name: 'listener/autoChain',
  run: (reader, { serverNames, route, port, protocol }) => {
    const filters = tcpFilters(reader, { exchange: false, policiesBeside: undefined, port, protocol }, route);
    return chainOf(reader, serverNames, MESH_ALL, undefined, filters);
  },
};

function tcpStack(reader: ProxyReader, { server }: MergedServer, route: TcpRoute): readonly Filter[] {
  const protocol = protocolOf(server.port?.protocol ?? '');
  const exchange = server.tls?.mode === 'ISTIO_MUTUAL';
  return tcpFilters(reader, { exchange, policiesBeside: '', port: server.port?.number ?? 0, protocol }, route);
}

/** What the network filters of a TCP chain depend on, beside its route; `policiesBeside` as in `networkFilters`. */
interface TcpServed extends Pick<SniRoute, 'port' | 'protocol'> {
  readonly exchange: boolean;
  readonly policiesBeside: string | undefined;
}

function tcpFilters(
  reader: ProxyReader,
  { exchange, policiesBeside, port, protocol }: TcpServed,
  route: TcpRoute,
): readonly Filter[] {
  return [
    ...networkFilters(reader, {
      traffic: 'gateway',
      exchange,
      policiesBeside,
      extensionPort: portOfExtensions(reader, port),
    }),
    ...terminalFilters(reader, route, { protocol }, reader.get(accessLogsOf, 'gateway').tcp),
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
    connectTimeoutMs: transportConnectTimeoutMs(reader),
  });
}
