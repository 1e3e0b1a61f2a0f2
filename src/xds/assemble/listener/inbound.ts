// Inbound listeners of a sidecar: virtualInbound, where intercepted connections arrive, and a listener of its own for
// each port that the Sidecar binds.
// Source: Istio pilot/pkg/networking/core/listener_inbound.go (buildInboundListeners).

import { joined } from '../../../core/base/groups.ts';
import type { Resource } from '../../../core/model/resource.ts';
import { HEAVY_BLOCKS, selectInBlocks } from '../../../core/query/in-blocks.ts';
import type { ProxyReader, Query, Selection } from '../../../core/query/reader.ts';
import type { HttpChainTraits } from '../../../core/select/listener/http-filters.ts';
import {
  type Carries,
  type InboundTarget,
  inboundTarget,
  passthroughTarget,
  tunnelledTarget,
} from '../../../core/select/listener/inbound-chains.ts';
import {
  type InboundPort,
  type InboundTls,
  inboundPorts,
  type UncoveredPorts,
  uncoveredMtlsPorts,
} from '../../../core/select/listener/inbound-listeners.ts';
import {
  extraWildcards,
  listenerName,
  meshPort,
  proxyAddresses,
  wildcards,
} from '../../../core/select/listener/listener-addresses.ts';
import { protocolDetectionTimeout, socketSettings } from '../../../core/select/listener/listener-settings.ts';
import { plainTcpRoute } from '../../../core/select/listener/tcp-routes.ts';
import { takesTunnels } from '../../../core/select/proxy/hbone.ts';
import { interceptionMode } from '../../../core/select/proxy/proxy-config.ts';
import { chainsOfPorts, inboundChain, inboundRoutes } from '../../generate/listener/inbound-chains.ts';
import { inboundBlackHole, inboundListener, tunnelledListener } from '../../generate/listener/inbound-listeners.ts';
import type { Filter, FilterChain, Listener, RouteConfiguration, TransportSocket } from '../../proto/types.gen.ts';
import { patchedRoutes } from '../patch/routes.ts';
import { accessLogsOf, listenerAccessLogs } from './access-log.ts';
import { extensionsBeforeHttp, portOfExtensions } from './extension-filters.ts';
import { exchangeFilters, networkFilters, terminalFilters } from './filters.ts';
import { httpConnectionManager } from './http-connection-manager.ts';
import { meshTlsSocket, serverTlsSocket } from './tls.ts';
import { connectTerminate } from './tunnels.ts';

type Tunnelled = NonNullable<HttpChainTraits['tunnelled']>;

export const inboundListeners: Query<'', readonly Resource<Listener>[]> = {
  name: 'listener/inboundListeners',
  run: reader => {
    const listeners: Resource<Listener>[] = [];
    if (interceptionMode(reader) !== 'NONE') listeners.push(virtualInbound(reader));
    if (takesTunnels(reader)) listeners.push(connectTerminate(reader), tunnelledInbound(reader));
    listeners.push(...ofEachBlock(reader, listenersOfPorts, port => port.bindToPort));
    return listeners;
  },
};

interface Ports {
  readonly ports: readonly InboundPort[];
}

/** What the selection makes of the ports of the workload that are `chosen`, in order. */
function ofEachBlock<R>(
  reader: ProxyReader,
  selection: Selection<Ports, readonly R[]>,
  chosen: (port: InboundPort) => boolean = () => true,
): readonly R[] {
  const ports = reader.get(inboundPorts, '').filter(chosen);
  return selectInBlocks(reader, selection, ports, HEAVY_BLOCKS, block => ({ ports: block }));
}

const listenersOfPorts: Selection<Ports, readonly Resource<Listener>[]> = {
  name: 'listener/inboundListenersOfPorts',
  run: (reader, { ports }) =>
    ports.flatMap(port => {
      const chains = chainsOf(reader, inboundTarget(reader, port));
      // A proxy without mesh mTLS where a policy demands it: nothing may listen.
      if (chains.length === 0) return [];
      const name = listenerName(port.bind, port.targetPort);
      return [inbound(reader, name, port.bind, port.moreBinds, port.targetPort, chains, false)];
    }),
};

const chainsOfInboundPorts: Selection<Ports, readonly FilterChain[]> = {
  name: 'listener/chainsOfInboundPorts',
  run: (reader, { ports }) => ports.flatMap(port => chainsOf(reader, inboundTarget(reader, port))),
};

const tunnelledChains: Selection<Ports, readonly FilterChain[]> = {
  name: 'listener/tunnelledChains',
  run: (reader, { ports }) =>
    ports.flatMap(port => chainsOf(reader, tunnelledTarget(reader, inboundTarget(reader, port)), 'service')),
};

const routesOfInboundPorts: Selection<Ports, readonly RouteConfiguration[]> = {
  name: 'listener/routesOfInboundPorts',
  run: (reader, { ports }) =>
    routesOf(
      reader,
      ports.map(port => inboundTarget(reader, port)),
    ),
};

function virtualInbound(reader: ProxyReader): Resource<Listener> {
  const isLong =
    reader.get(inboundPorts, '').length > HEAVY_BLOCKS.alone ||
    reader.get(uncoveredMtlsPorts, '').length > BLOCKS_ALONE_MAX;
  const chains = isLong ? reader.get(chainsOfVirtualInbound, '') : virtualInboundChains(reader);
  const port = meshPort(reader, 'proxyInboundListenPort');
  return inbound(reader, 'virtualInbound', wildcards(reader)[0], extraWildcards(reader), port, chains, true);
}

/** Of a workload with many ports: joined in a run of their own, so that the listener is made in another. */
const chainsOfVirtualInbound: Query<'', readonly FilterChain[]> = {
  name: 'listener/chainsOfVirtualInbound',
  run: virtualInboundChains,
};

function virtualInboundChains(reader: ProxyReader): readonly FilterChain[] {
  const blackHole = reader.make(inboundBlackHole, {
    port: meshPort(reader, 'proxyInboundListenPort'),
    filters: networkFilters(reader, {
      traffic: 'inbound',
      exchange: true,
      policiesBeside: undefined,
      extensionPort: undefined,
    }),
  });
  return joined([
    [blackHole],
    chainsOf(reader, passthroughTarget(reader, 0)),
    uncoveredChains(reader),
    ofEachBlock(reader, chainsOfInboundPorts, ({ bindToPort }) => !bindToPort),
  ]);
}

/** The chains of ports with an mTLS mode of their own that nothing serves: of tens of thousands they are alike. */
function uncoveredChains(reader: ProxyReader): readonly FilterChain[] {
  const blocks = reader.get(uncoveredMtlsPorts, '');
  if (blocks.length <= BLOCKS_ALONE_MAX) return blocks.flatMap(block => chainsOfUncovered.run(reader, { block }));
  return joined(blocks.map(block => reader.select(chainsOfUncovered, { block })));
}

const BLOCKS_ALONE_MAX = 2;

const chainsOfUncovered: Selection<{ readonly block: UncoveredPorts }, readonly FilterChain[]> = {
  name: 'listener/chainsOfUncoveredPorts',
  run: (reader, { block: { ports, tls } }) => {
    const alike = new Map<string, readonly FilterChain[]>();
    const chains = ports.map((port, i) => {
      const key = `${tls[i]}|${portOfExtensions(reader, port)}`;
      const known = alike.get(key) ?? chainsOf(reader, passthroughTarget(reader, port, tls[i]));
      alike.set(key, known);
      return known;
    });
    return reader.make(chainsOfPorts, { ports, chains });
  },
};

/** One port for each TLS mode, with the mode. */
function oneOfEachTls(blocks: readonly UncoveredPorts[]): readonly (readonly [port: number, tls: InboundTls])[] {
  const found = new Map<InboundTls, number>();
  for (const { ports, tls } of blocks) {
    for (const [i, port] of ports.entries()) found.set(tls[i]!, port);
  }
  return [...found].map(([tls, port]) => [port, tls]);
}

/** Where tunnels lead to: the ports of the workload, and all others. */
function tunnelledInbound(reader: ProxyReader): Resource<Listener> {
  const own = ofEachBlock(reader, tunnelledChains);
  const others = chainsOf(reader, tunnelledTarget(reader, passthroughTarget(reader, 0)), 'passthrough');
  return reader.make(tunnelledListener, {
    chains: [...own, ...others],
    accessLog: listenerAccessLogs(reader, 'inbound'),
  });
}

/** The route configurations of HTTP chains as they are before patches. */
export function unpatchedInboundRoutes(reader: ProxyReader): readonly RouteConfiguration[] {
  const targets = [
    passthroughTarget(reader, 0),
    // Those of ports with an mTLS mode of their own are the same, but for which modes have any.
    ...oneOfEachTls(reader.get(uncoveredMtlsPorts, '')).map(([port, tls]) => passthroughTarget(reader, port, tls)),
  ];
  return [...routesOf(reader, targets), ...ofEachBlock(reader, routesOfInboundPorts)];
}

function routesOf(reader: ProxyReader, targets: readonly InboundTarget[]): readonly RouteConfiguration[] {
  return targets
    .filter(({ plans }) => plans.some(({ carries }) => carries === 'http'))
    .map(({ route }) => reader.make(inboundRoutes, route));
}

function inbound(
  reader: ProxyReader,
  name: string,
  bind: string,
  moreBinds: readonly string[],
  port: number,
  chains: readonly FilterChain[],
  virtual: boolean,
): Resource<Listener> {
  return reader.make(inboundListener, {
    name,
    bind,
    moreBinds,
    port,
    chains,
    virtual,
    transparent: virtual && interceptionMode(reader) === 'TPROXY',
    detection: protocolDetectionTimeout(reader),
    accessLog: listenerAccessLogs(reader, 'inbound'),
    ...socketSettings(reader, 'INBOUND_LISTENER_EXACT_BALANCE'),
  });
}

/**
 * One for each plan, in order; none if the proxy cannot serve the TLS of the port. Chains that carry the same share
 * their filters.
 */
function chainsOf(reader: ProxyReader, target: InboundTarget, tunnelled: Tunnelled = 'no'): readonly FilterChain[] {
  let own: TransportSocket | undefined;
  if (target.tls !== undefined) {
    own = serverTlsSocket(reader, target.tls, true);
    if (own === undefined) return [];
  }
  const stacks: Partial<Record<Carries, readonly Filter[]>> = {};
  return target.plans.map(({ transport, alpn, mtls, carries }) => {
    const filters =
      stacks[carries] ??
      (carries === 'http' ? httpStack(reader, target, tunnelled) : tcpStack(reader, target, tunnelled));
    stacks[carries] = filters;
    return reader.make(inboundChain, {
      name: carries === 'http' ? target.httpName : target.tcpName,
      destinationPort: target.destinationPort,
      transport,
      alpn,
      socket: mtls ? reader.get(meshTlsSocket, carries) : own,
      filters,
      configNamespace: target.config?.namespace ?? '',
      configName: target.config?.name ?? '',
      addresses: tunnelled === 'no' ? undefined : proxyAddresses(reader),
    });
  });
}

/** Extensions of HTTP chains fit by the port of the workload, those of TCP chains by that of the service. */
function httpStack(reader: ProxyReader, target: InboundTarget, tunnelled: Tunnelled): readonly Filter[] {
  const extensionPort = portOfExtensions(reader, target.destinationPort);
  const hcm = httpConnectionManager(reader, {
    traffic: 'inbound',
    grpcWeb: target.protocol === 'GRPC-Web',
    dynamicForwardProxy: '',
    httpProxy: false,
    statPrefix: target.httpStatPrefix,
    routes: patchedRoutes(reader, reader.make(inboundRoutes, target.route), 'SIDECAR_INBOUND').configuration,
    http2: target.http2,
    extensionPort,
    tunnelled,
  });
  const exchange = tunnelled === 'service' ? [] : exchangeFilters(reader);
  return [...exchange, ...extensionsBeforeHttp(reader, 'inbound', extensionPort), hcm];
}

function tcpStack(reader: ProxyReader, target: InboundTarget, tunnelled: Tunnelled): readonly Filter[] {
  const route = { ...plainTcpRoute(reader, target.cluster), statPrefix: target.tcpStatPrefix };
  const accessLog = reader.get(accessLogsOf, 'inbound').tcp;
  return [
    ...networkFilters(reader, {
      traffic: 'inbound',
      exchange: true,
      policiesBeside: '',
      extensionPort: portOfExtensions(reader, target.route.port),
      tunnelled: tunnelled !== 'no',
    }),
    ...terminalFilters(reader, route, { protocol: target.protocol }, accessLog),
  ];
}
