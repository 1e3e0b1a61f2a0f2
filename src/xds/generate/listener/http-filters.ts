// The HTTP filters of a connection manager, and the one place that decides their order.
// Source: Istio pilot/pkg/networking/core/listener_builder.go (buildHTTPConnectionManager),
// pilot/pkg/xds/filters/filters.go.

import type { Generator } from '../../../core/query/memo.ts';
import type { ByPhase } from '../../../core/select/extension/chain-extensions.ts';
import type { HttpFilterChoice } from '../../../core/select/listener/http-filters.ts';
import { any } from '../../proto/any.ts';
import {
  Cluster_DnsLookupFamily,
  HeaderValueOption_HeaderAppendAction,
  type HttpFilter,
} from '../../proto/types.gen.ts';
import { pickerFilter } from '../common/endpoint-picker.ts';
import { type FilterStage, filtersOf } from './filter-stages.ts';
import { alpnFilter, peerMetadata, waypointPeers } from './istio-filters.ts';

export interface HttpFilterInputs extends HttpFilterChoice {
  // Filters that are made apart, as several lists share them.
  readonly customAuthorization: readonly HttpFilter[];
  readonly requestAuthentication: readonly HttpFilter[];
  readonly authorization: readonly HttpFilter[];
  readonly stats: readonly HttpFilter[];
  readonly extensions: ByPhase<HttpFilter>;
}

// Filters that never differ are constants, so that every list holds the same objects.

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
export const faultFilter: HttpFilter = {
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
export const routerFilter: HttpFilter = {
  name: 'envoy.filters.http.router',
  typedConfig: any('envoy.extensions.filters.http.router.v3.Router', {}),
};
const quietRouterFilter: HttpFilter = {
  name: 'envoy.filters.http.router',
  typedConfig: any('envoy.extensions.filters.http.router.v3.Router', { suppressEnvoyHeaders: true }),
};

export function routerOf(suppressDebugHeaders: boolean): HttpFilter {
  return suppressDebugHeaders ? quietRouterFilter : routerFilter;
}

function dynamicForwardProxy(host: string): readonly HttpFilter[] {
  if (host === '') return [];
  const dnsCacheConfig = { name: `${host}_dfp_dns_cache`, dnsLookupFamily: Cluster_DnsLookupFamily.V4_ONLY };
  const type = 'envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig';
  return [{ name: 'envoy.filters.http.dynamic_forward_proxy', typedConfig: any(type, { dnsCacheConfig }) }];
}

/** From the network to the upstream. A new filter is one row. */
export const httpFilterStages: readonly FilterStage<HttpFilterInputs, HttpFilter>[] = [
  { stage: 'peer metadata', filters: inputs => peerMetadata(inputs.exchangedLabels, inputs.peerDirection) },
  { stage: 'custom authorization', filters: inputs => inputs.customAuthorization },
  { stage: 'extensions of phase AUTHN', filters: inputs => inputs.extensions.AUTHN },
  { stage: 'request authentication', filters: inputs => inputs.requestAuthentication },
  { stage: 'extensions of phase AUTHZ', filters: inputs => inputs.extensions.AUTHZ },
  { stage: 'authorization', filters: inputs => inputs.authorization },
  { stage: 'extensions of phase STATS', filters: inputs => inputs.extensions.STATS },
  { stage: 'extensions without a phase', filters: inputs => inputs.extensions.UNSPECIFIED },
  { stage: 'endpoint picker', filters: inputs => (inputs.picksEndpoints ? [pickerFilter] : []) },
  { stage: 'gRPC-Web', filters: inputs => (inputs.grpcWeb ? [grpcWebFilter] : []) },
  { stage: 'gRPC stats', filters: () => [grpcStatsFilter] },
  { stage: 'ALPN', filters: inputs => (inputs.overridesAlpn ? [alpnFilter] : []) },
  { stage: 'fault', filters: () => [faultFilter] },
  { stage: 'CORS', filters: () => [corsFilter] },
  { stage: 'stats', filters: inputs => inputs.stats },
  { stage: 'stateful session', filters: inputs => (inputs.keepsSessions ? [statefulSessionFilter] : []) },
  { stage: 'dynamic forward proxy', filters: inputs => dynamicForwardProxy(inputs.dynamicForwardProxy) },
  { stage: 'router', filters: inputs => [routerOf(inputs.suppressDebugHeaders)] },
];

/** Sends the tunnel's identities on to the workload, in place of what the client claims. */
const identityFilter: HttpFilter = {
  name: 'istio.waypoint.xfcc_client_identity',
  typedConfig: any('envoy.extensions.filters.http.header_mutation.v3.HeaderMutation', {
    mutations: {
      requestMutations: [
        {
          append: {
            header: {
              key: 'x-forwarded-client-cert',
              value:
                'By=%FILTER_STATE(io.istio.local_principal:PLAIN)%;URI=%FILTER_STATE(io.istio.peer_principal:PLAIN)%',
            },
            appendAction: HeaderValueOption_HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD,
          },
        },
      ],
    },
  }),
};

/**
 * Of a waypoint, which asks the control plane who its peers are.
 * Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildWaypointHTTPFilters).
 */
const waypointFilterStages: readonly FilterStage<HttpFilterInputs, HttpFilter>[] = [
  { stage: 'identity of the client', filters: inputs => (inputs.forwardsIdentity ? [identityFilter] : []) },
  { stage: 'custom authorization', filters: inputs => inputs.customAuthorization },
  { stage: 'extensions of phase AUTHN', filters: inputs => inputs.extensions.AUTHN },
  { stage: 'request authentication', filters: inputs => inputs.requestAuthentication },
  { stage: 'extensions of phase AUTHZ', filters: inputs => inputs.extensions.AUTHZ },
  { stage: 'authorization', filters: inputs => inputs.authorization },
  { stage: 'gRPC-Web', filters: inputs => (inputs.grpcWeb ? [grpcWebFilter] : []) },
  { stage: 'gRPC stats', filters: () => [grpcStatsFilter] },
  { stage: 'fault', filters: () => [faultFilter] },
  { stage: 'CORS', filters: () => [corsFilter] },
  { stage: 'dynamic forward proxy', filters: inputs => dynamicForwardProxy(inputs.dynamicForwardProxy) },
  { stage: 'extensions of phase STATS', filters: inputs => inputs.extensions.STATS },
  { stage: 'extensions without a phase', filters: inputs => inputs.extensions.UNSPECIFIED },
  { stage: 'peer metadata', filters: () => [waypointPeers.upstream] },
  { stage: 'stats', filters: inputs => inputs.stats },
  { stage: 'router', filters: inputs => [routerOf(inputs.suppressDebugHeaders)] },
];

export const waypointHttpFilterList: Generator<HttpFilterInputs, readonly HttpFilter[]> = {
  name: 'listener/waypointHttpFilters',
  run: inputs => filtersOf(waypointFilterStages, inputs),
};

export const httpFilterList: Generator<HttpFilterInputs, readonly HttpFilter[]> = {
  name: 'listener/httpFilters',
  run: inputs => filtersOf(httpFilterStages, inputs),
};
