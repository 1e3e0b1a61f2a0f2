// The last filters of a TCP chain: tcp_proxy, and what goes before it for protocols that Envoy can look into
// (spec-listeners §6.6, §6.8; Istio core/networkfilter.go).

import type { Protocol } from '../../../core/model/service.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { BLACK_HOLE_CLUSTER } from '../../../core/select/cluster/cluster-names.ts';
import type { TcpRoute } from '../../../core/select/listener/tcp-routes.ts';
import { any, type TypedAny, typeUrl } from '../../proto/any.ts';
import { type AccessLog, Cluster_DnsLookupFamily, type Filter } from '../../proto/types.gen.ts';
import { durationOf } from '../common/duration.ts';
import { orNone } from './access-log.ts';

export interface TerminalOptions {
  readonly accessLog: readonly AccessLog[];
  readonly protocol: Protocol;
  /** Host of a DYNAMIC_DNS service whose address is looked up by SNI, and its port. */
  readonly dynamicHost?: string;
  readonly dynamicPort?: number;
}

export function terminalFilters(reader: ProxyReader, route: TcpRoute, options: TerminalOptions): readonly Filter[] {
  return reader.make(terminalGenerator, {
    clusters: route.clusters,
    weights: route.weights,
    statPrefix: route.statPrefix,
    idleTimeout: route.idleTimeout,
    maxDuration: route.maxDuration,
    hashSourceIp: route.hashSourceIp,
    tunnelHost: route.tunnelHost,
    tunnelPost: route.tunnelPost,
    accessLog: options.accessLog,
    codec: codecOf(reader, options.protocol),
    dynamicHost: options.dynamicHost ?? '',
    dynamicPort: options.dynamicPort ?? 0,
  } satisfies TerminalInputs & Record<keyof TcpRoute, unknown>);
}

/** Connections that must go nowhere: no log, no timeout. */
export const blackHole: Filter = {
  name: 'envoy.filters.network.tcp_proxy',
  typedConfig: any('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', {
    cluster: BLACK_HOLE_CLUSTER,
    statPrefix: BLACK_HOLE_CLUSTER,
  }),
};

type Codec = '' | 'mongo' | 'redis' | 'mysql';

function codecOf(reader: ProxyReader, protocol: Protocol): Codec {
  if (protocol === 'Mongo' && reader.feature('PILOT_ENABLE_MONGO_FILTER')) return 'mongo';
  if (protocol === 'Redis' && reader.feature('PILOT_ENABLE_REDIS_FILTER')) return 'redis';
  return protocol === 'MySQL' && reader.feature('PILOT_ENABLE_MYSQL_FILTER') ? 'mysql' : '';
}

interface TerminalInputs extends TcpRoute {
  readonly accessLog: readonly AccessLog[];
  readonly codec: Codec;
  readonly dynamicHost: string;
  readonly dynamicPort: number;
}

const terminalGenerator: Generator<TerminalInputs, readonly Filter[]> = {
  name: 'listener/terminalFilters',
  run: inputs => {
    if (inputs.codec === 'redis') return [redisFilter(inputs)];
    const filters: Filter[] = [];
    if (inputs.codec === 'mongo') filters.push(mongoFilter(inputs.statPrefix));
    if (inputs.codec === 'mysql') filters.push(mysqlFilter(inputs.statPrefix));
    if (inputs.dynamicHost !== '') filters.push(sniLookup(inputs.dynamicHost, inputs.dynamicPort));
    filters.push(tcpProxy(inputs));
    return filters;
  },
};

function tcpProxy(inputs: TerminalInputs): Filter {
  const single = inputs.weights.length === 0;
  const config = {
    '@type': TCP_PROXY,
    cluster: single ? inputs.clusters[0] : undefined,
    weightedClusters: single
      ? undefined
      : { clusters: inputs.clusters.map((name, i) => ({ name, weight: inputs.weights[i] })) },
    statPrefix: inputs.statPrefix,
    accessLog: orNone(inputs.accessLog),
    idleTimeout: durationOf(inputs.idleTimeout),
    maxDownstreamConnectionDuration: durationOf(inputs.maxDuration),
    hashPolicy: inputs.hashSourceIp ? [{ sourceIp: {} }] : undefined,
    tunnelingConfig:
      inputs.tunnelHost === ''
        ? undefined
        : { hostname: inputs.tunnelHost, usePost: inputs.tunnelPost ? true : undefined },
  } satisfies TypedAny<'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy'>;
  return { name: 'envoy.filters.network.tcp_proxy', typedConfig: config };
}

const TCP_PROXY = typeUrl('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy');

function mongoFilter(statPrefix: string): Filter {
  return {
    name: 'envoy.filters.network.mongo_proxy',
    typedConfig: any('envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy', { statPrefix }),
  };
}

/** One of Envoy's contrib extensions: istio-proxy has it, a stock Envoy may not. */
function mysqlFilter(statPrefix: string): Filter {
  return {
    name: 'envoy.filters.network.mysql_proxy',
    typedConfig: any('envoy.extensions.filters.network.mysql_proxy.v3.MySQLProxy', { statPrefix }),
  };
}

/** Speaks to the upstream itself: there is no tcp_proxy behind it. */
function redisFilter(inputs: TerminalInputs): Filter {
  return {
    name: 'envoy.filters.network.redis_proxy',
    typedConfig: any('envoy.extensions.filters.network.redis_proxy.v3.RedisProxy', {
      latencyInMicros: true,
      statPrefix: inputs.statPrefix,
      settings: { opTimeout: { seconds: 5, nanos: 0 } },
      prefixRoutes: { catchAllRoute: { cluster: inputs.clusters[0] } },
    }),
  };
}

function sniLookup(host: string, portValue: number): Filter {
  return {
    name: 'envoy.extensions.filters.network.sni_dynamic_forward_proxy',
    typedConfig: any('envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig', {
      dnsCacheConfig: { name: `${host}_dfp_dns_cache`, dnsLookupFamily: Cluster_DnsLookupFamily.V4_ONLY },
      portValue,
    }),
  };
}
