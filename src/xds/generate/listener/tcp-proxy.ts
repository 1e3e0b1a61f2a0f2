// The last filters of a TCP chain: tcp_proxy, preceded or replaced by the filter of a protocol that Envoy can look
// into.
// Source: Istio pilot/pkg/networking/core/networkfilter.go (buildCompleteNetworkFilters,
// buildNetworkFiltersStack, setAccessLogAndBuildTCPFilter).

import type { Generator } from '../../../core/query/memo.ts';
import { BLACK_HOLE_CLUSTER } from '../../../core/select/cluster/cluster-names.ts';
import type { TerminalCodec } from '../../../core/select/listener/tcp-codec.ts';
import type { TcpRoute } from '../../../core/select/listener/tcp-routes.ts';
import { any, type TypedAny, typeUrl } from '../../proto/any.ts';
import { type AccessLog, Cluster_DnsLookupFamily, type Filter } from '../../proto/types.gen.ts';
import { durationOf } from '../common/duration.ts';
import { orNone } from '../common/or-none.ts';

/** Closes connections without a destination: no log, no timeout. */
export const blackHole: Filter = {
  name: 'envoy.filters.network.tcp_proxy',
  typedConfig: any('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', {
    cluster: BLACK_HOLE_CLUSTER,
    statPrefix: BLACK_HOLE_CLUSTER,
  }),
};

export interface TerminalInputs extends TcpRoute {
  readonly accessLog: readonly AccessLog[];
  readonly codec: TerminalCodec;
  readonly dynamicHost: string;
  readonly dynamicPort: number;
}

export const terminalGenerator: Generator<TerminalInputs, readonly Filter[]> = {
  name: 'listener/terminalFilters',
  run: inputs => {
    const filters: Filter[] = [];
    if (inputs.dynamicHost !== '') filters.push(sniLookup(inputs.dynamicHost, inputs.dynamicPort));
    if (inputs.codec === 'mongo') filters.push(mongoFilter(inputs.statPrefix));
    if (inputs.codec === 'mysql') filters.push(mysqlFilter(inputs.statPrefix));
    filters.push(inputs.codec === 'redis' ? redisFilter(inputs) : tcpProxy(inputs));
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

/** Connects to the upstream itself: there is no tcp_proxy behind it. */
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
