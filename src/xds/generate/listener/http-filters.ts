// The HTTP filters of a connection manager, and the one place where their order is written down
// (spec-listeners §7.3; Istio core/listener_builder.go, pilot/pkg/xds/filters/filters.go).
//
// A feature adds filters by filling its stage; nothing else in the program decides where a filter stands.

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { proxyHeaders } from '../../../core/select/proxy/proxy-config.ts';
import type { TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import { any } from '../../proto/any.ts';
import { Cluster_DnsLookupFamily, type HttpFilter } from '../../proto/types.gen.ts';
import { authorizationFilters } from './authorization/filters.ts';
import { inOrder } from './filter-stages.ts';
import { alpn, peerMetadata, statsFilters } from './istio-filters.ts';
import { requestAuthenticationFilters } from './request-authentication.ts';

/** From the network to the upstream. */
const httpFilterOrder = [
  'peerMetadata',
  'customAuthorization',
  'authenticationExtensions',
  'requestAuthentication',
  'authorizationExtensions',
  'authorization',
  'statsExtensions',
  'otherExtensions',
  'inferencePool',
  'grpcWeb',
  'grpcStats',
  'alpn',
  'fault',
  'cors',
  'stats',
  'statefulSession',
  'dynamicForwardProxy',
  'router',
] as const;
type Stage = (typeof httpFilterOrder)[number];

/** What of a chain decides its filters. */
export interface HttpChainTraits {
  readonly traffic: TrafficClass;
  /** The port's protocol is GRPC-Web. */
  readonly grpcWeb: boolean;
  /** Host of a DYNAMIC_DNS service with a wildcard host, else ''. */
  readonly dynamicForwardProxy: string;
  /** The chain is an HTTP proxy, which can be asked for any host: metadata goes along in every case. */
  readonly httpProxy: boolean;
}

export function httpFilters(reader: ProxyReader, traits: HttpChainTraits): readonly HttpFilter[] {
  return reader.get(
    httpFilterList,
    `${traits.traffic}|${traits.grpcWeb}|${traits.httpProxy}|${traits.dynamicForwardProxy}`,
  );
}

/** Argument `traffic|grpcWeb|httpProxy|dynamicForwardProxy`. One list for all chains alike. */
const httpFilterList: Query<string, readonly HttpFilter[]> = {
  name: 'generate/httpFilters',
  run: (reader, arg) => {
    const [traffic, grpcWeb, httpProxy, dynamicHost = ''] = arg.split('|') as [TrafficClass, string, string, string?];
    const client = traffic !== 'inbound';
    const persistent = client && reader.feature('PILOT_ENABLE_PERSISTENT_SESSION_FILTER');
    const server = traffic !== 'outbound';
    const authorization = server ? authorizationFilters(reader, 'http') : undefined;
    const stages: Readonly<Partial<Record<Stage, readonly HttpFilter[]>>> = {
      peerMetadata: peerMetadata(reader, traffic, httpProxy === 'true'),
      customAuthorization: authorization?.custom,
      requestAuthentication: server ? requestAuthenticationFilters(reader) : [],
      authorization: authorization?.rules,
      grpcWeb: grpcWeb === 'true' ? [grpcWebFilter] : [],
      grpcStats: [grpcStatsFilter],
      alpn: client ? alpn(reader) : [],
      fault: [faultFilter],
      cors: [corsFilter],
      stats: statsFilters(reader, traffic),
      statefulSession: persistent ? [statefulSessionFilter] : [],
      dynamicForwardProxy: dynamicHost === '' ? [] : [dynamicForwardProxyFilter(dynamicHost)],
      router: [router(reader)],
    };
    return inOrder(httpFilterOrder, stages);
  },
};

/** Members of an HTTP filter that never differ are constants, so that they are one object everywhere. */
const grpcWebFilter: HttpFilter = {
  name: 'envoy.filters.http.grpc_web',
  typedConfig: any('envoy.extensions.filters.http.grpc_web.v3.GrpcWeb', {}),
};
const grpcStatsFilter: HttpFilter = {
  name: 'envoy.filters.http.grpc_stats',
  typedConfig: any('envoy.extensions.filters.http.grpc_stats.v3.FilterConfig', {
    emitFilterState: true,
    statsForAllMethods: { value: false },
  }),
};
const faultFilter: HttpFilter = {
  name: 'envoy.filters.http.fault',
  typedConfig: any('envoy.extensions.filters.http.fault.v3.HTTPFault', {}),
};
const corsFilter: HttpFilter = {
  name: 'envoy.filters.http.cors',
  typedConfig: any('envoy.extensions.filters.http.cors.v3.Cors', {}),
};
const statefulSessionFilter: HttpFilter = {
  name: 'envoy.filters.http.stateful_session',
  typedConfig: any('envoy.extensions.filters.http.stateful_session.v3.StatefulSession', {}),
};
const routerFilter: HttpFilter = {
  name: 'envoy.filters.http.router',
  typedConfig: any('envoy.extensions.filters.http.router.v3.Router', {}),
};
const quietRouterFilter: HttpFilter = {
  name: 'envoy.filters.http.router',
  typedConfig: any('envoy.extensions.filters.http.router.v3.Router', { suppressEnvoyHeaders: true }),
};

function router(reader: ProxyReader): HttpFilter {
  const debug = reader.derived(proxyHeaders).envoyDebugHeaders as { readonly disabled?: boolean } | undefined;
  return debug?.disabled === true ? quietRouterFilter : routerFilter;
}

function dynamicForwardProxyFilter(host: string): HttpFilter {
  return {
    name: 'envoy.filters.http.dynamic_forward_proxy',
    typedConfig: any('envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig', {
      dnsCacheConfig: { name: `${host}_dfp_dns_cache`, dnsLookupFamily: Cluster_DnsLookupFamily.V4_ONLY },
    }),
  };
}
