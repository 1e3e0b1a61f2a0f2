// Outbound listeners of a sidecar, made of the plans of core/select/listener/outbound-listeners.ts (spec-listeners §6.7), and the listener of the
// HTTP proxy port (§6.9). Source: Istio core/listener.go.

import { compareText } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import type { Duration } from '../../../core/schema/duration.ts';
import { localhosts, meshPort } from '../../../core/select/listener/listener-addresses.ts';
import type { ChainPlan, HttpChainPlan, TcpChainPlan } from '../../../core/select/listener/outbound-chains.ts';
import { type OutboundListenerPlan, rangesOf, takesAll } from '../../../core/select/listener/outbound-entries.ts';
import { outboundListenerPlans } from '../../../core/select/listener/outbound-listeners.ts';
import { metadataText } from '../../../core/select/proxy/proxy-config.ts';
import {
  type AccessLog,
  type CidrRange,
  type Filter,
  type FilterChain,
  type FilterChainMatch,
  type Listener,
  type ListenerFilter,
  TrafficDirection,
} from '../../proto/types.gen.ts';
import { durationOf, durationOfMs, ZERO_DURATION } from '../common/duration.ts';
import { accessLogsOf } from './access-log.ts';
import { plainHttp } from './alpn.ts';
import { cidrRange } from './cidr.ts';
import { httpConnectionManager } from './http-connection-manager.ts';
import { httpInspector, tlsInspector } from './listener-filters.ts';
import {
  additionalAddresses,
  configMetadata,
  listenerAddress,
  listenerName,
  type SocketSettings,
  socketFields,
} from './listener-parts.ts';
import { networkFilters } from './network-filters.ts';
import { socketSettings } from './socket-settings.ts';
import { terminalFilters } from './tcp-proxy.ts';
import { fallthroughFilters } from './virtual-outbound.ts';

/** Sorted by name, except that the HTTP proxy listener comes last. */
export const outboundListeners: Query<'', readonly Resource<Listener>[]> = {
  name: 'generate/outboundListeners',
  run: reader => {
    const shared = sharedParts(reader);
    const listeners = reader.get(outboundListenerPlans, '').map(plan => outbound(reader, shared, plan));
    const proxy = httpProxyListener(reader);
    return proxy === undefined ? listeners : [...listeners, proxy];
  },
};

/** What every outbound listener of the proxy has in common, asked for once: there can be thousands of them. */
interface SharedParts {
  readonly networkFilters: readonly Filter[];
  readonly fallthrough: readonly Filter[];
  readonly tcpLog: readonly AccessLog[];
  readonly plainHttp: readonly string[];
  readonly connectTimeoutMs: number;
  readonly detection: Duration | string | undefined;
  readonly socket: SocketSettings;
}

function sharedParts(reader: ProxyReader): SharedParts {
  return {
    networkFilters: networkFilters(reader, { traffic: 'outbound', exchange: false, authorized: false }),
    fallthrough: fallthroughFilters(reader),
    tcpLog: reader.get(accessLogsOf, 'outbound').tcp,
    plainHttp: plainHttp(reader),
    connectTimeoutMs: connectTimeoutMs(reader),
    detection: reader.mesh('protocolDetectionTimeout') as unknown as Duration | string | undefined,
    socket: socketSettings(reader, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
  };
}

function outbound(reader: ProxyReader, shared: SharedParts, plan: OutboundListenerPlan): Resource<Listener> {
  const [bind, ...moreBinds] = plan.binds;
  const chains = plan.chains.map(chain => chainOf(reader, shared, plan, chain));
  return reader.make(outboundListener, {
    bind,
    moreBinds,
    port: plan.port,
    bindToPort: plan.bindToPort,
    chains,
    fallthrough: chains.some(isMatchAll) ? undefined : shared.fallthrough,
    inspectsTls: plan.chains.some(looksAtSni),
    detection: shared.detection,
    conflicts: plan.conflicts,
    ...shared.socket,
  });
}

/** A name that says any host narrows no chain, but asks for the inspector as others do. */
function looksAtSni(chain: ChainPlan): boolean {
  return chain.kind === 'tcp' && (chain.dynamicHost !== '' || chain.serverNames.length > 0);
}

function chainOf(reader: ProxyReader, shared: SharedParts, plan: OutboundListenerPlan, chain: ChainPlan): FilterChain {
  return chain.kind === 'http' ? httpChain(reader, shared, plan, chain) : tcpChain(reader, shared, plan, chain);
}

function httpChain(
  reader: ProxyReader,
  shared: SharedParts,
  plan: OutboundListenerPlan,
  chain: HttpChainPlan,
): FilterChain {
  const hcm = httpConnectionManager(reader, {
    traffic: 'outbound',
    grpcWeb: chain.protocol === 'GRPC-Web',
    dynamicForwardProxy: chain.dynamicHost,
    httpProxy: false,
    statPrefix: `outbound_${listenerName(plan.binds[0], plan.port)};`,
    routes: chain.routeName,
    http2: false,
  });
  return reader.make(outboundChain, {
    matchesAll: !chain.sniffed,
    serverNames: [],
    ranges: [],
    alpn: chain.sniffed ? shared.plainHttp : undefined,
    filters: [hcm],
    connectTimeoutMs: shared.connectTimeoutMs,
    configNamespace: '',
    configName: '',
  });
}

function tcpChain(
  reader: ProxyReader,
  shared: SharedParts,
  plan: OutboundListenerPlan,
  chain: TcpChainPlan,
): FilterChain {
  const filters = [
    ...shared.networkFilters,
    ...terminalFilters(reader, chain.route, {
      accessLog: shared.tcpLog,
      protocol: chain.protocol,
      dynamicHost: chain.dynamicHost,
      dynamicPort: plan.port,
    }),
  ];
  return reader.make(outboundChain, {
    matchesAll: takesAll(chain),
    serverNames: chain.serverNames.includes('*') ? [] : [...chain.serverNames].sort(compareText),
    ranges: rangesOf(chain),
    alpn: undefined,
    filters,
    connectTimeoutMs: shared.connectTimeoutMs,
    configNamespace: chain.config?.namespace ?? '',
    configName: chain.config?.name ?? '',
  });
}

/** How long a transport socket of a chain may take to be ready; 0 for no limit. Of sidecars too, whatever the flag's name says. */
export function connectTimeoutMs(reader: ProxyReader): number {
  return reader.feature('PILOT_GATEWAY_TRANSPORT_SOCKET_CONNECT_TIMEOUT');
}

interface OutboundChainInputs {
  readonly matchesAll: boolean;
  readonly serverNames: readonly string[];
  readonly ranges: readonly string[];
  /** Present on chains for HTTP that is told from other traffic by inspection. */
  readonly alpn: readonly string[] | undefined;
  readonly filters: readonly Filter[];
  readonly connectTimeoutMs: number;
  readonly configNamespace: string;
  readonly configName: string;
}

const outboundChain: Generator<OutboundChainInputs, FilterChain> = {
  name: 'listener/outboundChain',
  run: inputs => ({
    filterChainMatch: matchOf(inputs),
    filters: inputs.filters,
    transportSocketConnectTimeout: inputs.connectTimeoutMs === 0 ? undefined : durationOfMs(inputs.connectTimeoutMs),
    metadata:
      inputs.configName === ''
        ? undefined
        : configMetadata('virtual-service', inputs.configNamespace, inputs.configName),
  }),
};

/** Undefined: the chain takes everything. An empty match does too, but is no default chain. */
function matchOf(inputs: OutboundChainInputs): FilterChainMatch | undefined {
  const { serverNames, ranges, alpn } = inputs;
  if (inputs.matchesAll) return undefined;
  const prefixRanges: readonly CidrRange[] = ranges.map(cidrRange);
  return {
    serverNames: serverNames.length === 0 ? undefined : serverNames,
    prefixRanges: prefixRanges.length === 0 ? undefined : prefixRanges,
    ...(alpn === undefined ? {} : { transportProtocol: 'raw_buffer', applicationProtocols: alpn }),
  };
}

function isMatchAll(chain: FilterChain): boolean {
  return chain.filterChainMatch === undefined;
}

interface OutboundListenerInputs extends SocketSettings {
  readonly bind: string;
  readonly moreBinds: readonly string[];
  readonly port: number;
  readonly bindToPort: boolean;
  readonly chains: readonly FilterChain[];
  /** Where connections go that no chain takes; absent if one takes all. */
  readonly fallthrough: readonly Filter[] | undefined;
  readonly inspectsTls: boolean;
  readonly detection: Duration | string | undefined;
  readonly conflicts: readonly string[];
}

const outboundListener: Generator<OutboundListenerInputs, Resource<Listener>> = {
  name: 'listener/outbound',
  run: inputs => {
    const { chains, filterChains, defaultFilterChain } = arrange(inputs);
    const inspectors = inspectorsOf(chains, inputs.inspectsTls);
    const inspectsHttp = inspectors.includes(httpInspector);
    const name = listenerName(inputs.bind, inputs.port);
    const message: Listener = {
      name,
      address: listenerAddress(inputs.bind, inputs.port),
      additionalAddresses: additionalAddresses(inputs.moreBinds, inputs.port),
      trafficDirection: TrafficDirection.OUTBOUND,
      bindToPort: inputs.bindToPort ? undefined : { value: false },
      listenerFilters: inspectors,
      continueOnListenerFiltersTimeout: true,
      listenerFiltersTimeout: (inspectsHttp ? durationOf(inputs.detection) : undefined) ?? ZERO_DURATION,
      filterChains,
      defaultFilterChain,
      ...socketFields({ ...inputs, maxConnectionsPerEvent: inputs.bindToPort ? inputs.maxConnectionsPerEvent : 0 }),
    };
    return { name, message, problems: inputs.conflicts.map(message => ({ path: '', message })) };
  },
};

/** The chain that takes everything is the default one, unless it is the only one. */
function arrange(inputs: OutboundListenerInputs): {
  readonly chains: readonly FilterChain[];
  readonly filterChains: readonly FilterChain[];
  readonly defaultFilterChain: FilterChain | undefined;
} {
  const { chains, fallthrough } = inputs;
  const narrow = chains.filter(chain => !isMatchAll(chain));
  const all = chains.filter(isMatchAll).at(-1);
  if (all !== undefined) {
    return narrow.length === 0
      ? { chains, filterChains: [all], defaultFilterChain: undefined }
      : { chains, filterChains: narrow, defaultFilterChain: all };
  }
  return {
    chains,
    filterChains: narrow,
    defaultFilterChain: { name: 'PassthroughFilterChain', filterChainMatch: {}, filters: fallthrough },
  };
}

function inspectorsOf(chains: readonly FilterChain[], inspectsTls: boolean): readonly ListenerFilter[] {
  const filters: ListenerFilter[] = inspectsTls ? [tlsInspector] : [];
  if (chains.some(chain => (chain.filterChainMatch?.applicationProtocols?.length ?? 0) > 0)) {
    filters.push(httpInspector);
  }
  return filters;
}

/** Applications that are told to use an HTTP proxy are served on a loopback port. */
function httpProxyListener(reader: ProxyReader): Resource<Listener> | undefined {
  const asked = metadataText(reader, 'HTTP_PROXY_PORT');
  const port = /^[0-9]+$/.test(asked) ? Number(asked) : meshPort(reader, 'proxyHttpPort');
  if (port === 0) return undefined;
  const [bind, ...moreBinds] = localhosts(reader);
  const hcm = httpConnectionManager(reader, {
    traffic: 'outbound',
    grpcWeb: false,
    dynamicForwardProxy: '',
    httpProxy: true,
    statPrefix: `outbound_${listenerName(bind, port)};`,
    routes: 'http_proxy',
    http2: false,
  });
  const chain = reader.make(outboundChain, {
    matchesAll: true,
    serverNames: [],
    ranges: [],
    alpn: undefined,
    filters: [hcm],
    connectTimeoutMs: connectTimeoutMs(reader),
    configNamespace: '',
    configName: '',
  });
  return reader.make(outboundListener, {
    bind,
    moreBinds,
    port,
    bindToPort: true,
    chains: [chain],
    fallthrough: undefined,
    inspectsTls: false,
    detection: undefined,
    conflicts: [],
    ...socketSettings(reader, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
  });
}
