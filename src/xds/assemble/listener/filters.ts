// The filter lists of chains: one query a kind of chain, so that all chains of the kind share the list, and each filter
// of it is encoded once.

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { type HttpChainTraits, selectHttpFilters } from '../../../core/select/listener/http-filters.ts';
import { exchangedLabels, selectStats } from '../../../core/select/listener/istio-filters.ts';
import type { NetworkChainTraits } from '../../../core/select/listener/network-filters.ts';
import { type TcpTraits, terminalCodec } from '../../../core/select/listener/tcp-codec.ts';
import type { TcpRoute } from '../../../core/select/listener/tcp-routes.ts';
import { isWaypointTraffic, subjectOf, type TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import type { ChainPeer } from '../../generate/listener/authorization/filters.ts';
import { httpFilterList, waypointHttpFilterList } from '../../generate/listener/http-filters.ts';
import { type NamedConfig, networkMetadataExchange, statsGenerator } from '../../generate/listener/istio-filters.ts';
import { networkFilterList } from '../../generate/listener/network-filters.ts';
import { type TerminalInputs, terminalGenerator } from '../../generate/listener/tcp-proxy.ts';
import type { AccessLog, Filter, HttpFilter } from '../../proto/types.gen.ts';
import { httpExtensions, NO_EXTENSIONS, networkExtensions } from './extension-filters.ts';
import { authorizationOf, requestAuthenticationOf } from './policy-filters.ts';

/** Filters in front of the terminal ones. */
export function networkFilters(reader: ProxyReader, traits: NetworkChainTraits): readonly Filter[] {
  return reader.get(networkFiltersOf, traits);
}

const networkFiltersOf: Query<NetworkChainTraits, readonly Filter[]> = {
  name: 'listener/networkFiltersOf',
  key: ({ traffic, exchange, policiesBeside, extensionPort = '', tunnelled = false }) =>
    `${traffic}|${exchange}|${policiesBeside}|${extensionPort}|${tunnelled}`,
  run: (reader, { traffic, exchange, policiesBeside, extensionPort, tunnelled = false }) => {
    const subject = subjectOf(traffic);
    const peer = peerOf(traffic, tunnelled);
    const { custom, rules } = authorizationOf(reader, { chain: 'tcp', beside: policiesBeside, subject, peer });
    return reader.make(networkFilterList, {
      exchangedLabels: exchange ? exchangedLabels(reader) : undefined,
      customAuthorization: custom,
      authorization: rules,
      stats: statsFilters(reader, traffic),
      extensions: extensionPort === undefined ? NO_EXTENSIONS : networkExtensions(reader, traffic, extensionPort),
    });
  },
};

/** In front of an HTTP connection manager that serves mesh mTLS. */
export function exchangeFilters(reader: ProxyReader): readonly Filter[] {
  return networkMetadataExchange(exchangedLabels(reader));
}

export function httpFilters(reader: ProxyReader, traits: HttpChainTraits): readonly HttpFilter[] {
  return reader.get(httpFiltersOf, traits);
}

const httpFiltersOf: Query<HttpChainTraits, readonly HttpFilter[]> = {
  name: 'listener/httpFiltersOf',
  key: ({ traffic, grpcWeb, httpProxy, dynamicForwardProxy, extensionPort, tunnelled = 'no' }) =>
    `${traffic}|${grpcWeb}|${httpProxy}|${dynamicForwardProxy}|${extensionPort}|${tunnelled}`,
  run: (reader, traits) => {
    const { traffic, extensionPort, tunnelled = 'no' } = traits;
    const subject = subjectOf(traffic);
    const beside = traffic === 'outbound' ? undefined : '';
    const peer = peerOf(traffic, tunnelled !== 'no');
    const { custom, rules } = authorizationOf(reader, { chain: 'http', beside, subject, peer });
    return reader.make(isWaypointTraffic(traffic) ? waypointHttpFilterList : httpFilterList, {
      ...selectHttpFilters(reader, traits),
      customAuthorization: custom,
      requestAuthentication: requestAuthenticationOf(reader, traffic !== 'outbound', subject),
      authorization: rules,
      stats: statsFilters(reader, traffic),
      extensions: httpExtensions(reader, traffic, extensionPort),
    });
  },
};

function peerOf(traffic: TrafficClass, tunnelled: boolean): ChainPeer {
  if (isWaypointTraffic(traffic)) return 'waypoint';
  return tunnelled ? 'tunnel' : 'tls';
}

function statsFilters(reader: ProxyReader, traffic: TrafficClass): readonly NamedConfig[] {
  return selectStats(reader, traffic).map(inputs => reader.make(statsGenerator, inputs));
}

/** The last filters of a TCP chain: where its connections go. */
export function terminalFilters(
  reader: ProxyReader,
  route: TcpRoute,
  traits: TcpTraits,
  accessLog: readonly AccessLog[],
): readonly Filter[] {
  return reader.make(terminalGenerator, {
    clusters: route.clusters,
    weights: route.weights,
    statPrefix: route.statPrefix,
    idleTimeout: route.idleTimeout,
    maxDuration: route.maxDuration,
    hashSourceIp: route.hashSourceIp,
    tunnelHost: route.tunnelHost,
    tunnelPost: route.tunnelPost,
    accessLog,
    codec: terminalCodec(reader, traits.protocol),
    dynamicHost: traits.dynamicHost ?? '',
    dynamicPort: traits.dynamicPort ?? 0,
  } satisfies TerminalInputs & Record<keyof TcpRoute, unknown>);
}
