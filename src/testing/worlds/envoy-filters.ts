// Arbitrary EnvoyFilters: every target and operation, matches that hit and that miss, values that decode and that fit
// their target or not.

import type { Json, JsonObject } from '../../core/base/json.ts';
import { fc } from '../fast-check.ts';
import {
  all,
  both,
  host,
  istio,
  list,
  portNumber,
  type Shape,
  some,
  subset,
  type Value,
  workloadSelector,
} from './pools.ts';

const HCM = 'envoy.filters.network.http_connection_manager';
const TYPE = 'type.googleapis.com/';

const any = (type: string, content: JsonObject = {}): JsonObject => ({ '@type': `${TYPE}${type}`, ...content });
const lua = any('envoy.extensions.filters.http.lua.v3.Lua', { inlineCode: 'function envoy_on_request(h) end' });
const router = any('envoy.extensions.filters.http.router.v3.Router', { suppress_envoy_headers: true });
const tcpProxy = any('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', { stat_prefix: 'p', cluster: 'c' });
const manager = any('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
  use_remote_address: false,
  xff_num_trusted_hops: 2,
});
const inspector = any('envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector', {
  enable_ja3_fingerprinting: true,
});
const upstreamTls = any('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', { sni: 'a.test' });

const context: Value = fc.constantFrom(undefined, 'ANY', 'SIDECAR_INBOUND', 'SIDECAR_OUTBOUND', 'GATEWAY');
const proxy: Value = fc.constantFrom<Json | undefined>(
  undefined,
  undefined,
  { proxyVersion: '^1\\.3' },
  { proxyVersion: '9$' },
  { metadata: { INTERCEPTION_MODE: 'REDIRECT' } },
);
const networkFilter: Shape = fc.constantFrom<JsonObject>(
  { name: HCM },
  { name: HCM, subFilter: { name: 'envoy.filters.http.router' } },
  { name: HCM, subFilter: { name: 'lua' } },
);
const plainFilter: Shape = fc.constantFrom<JsonObject>({ name: 'envoy.filters.network.tcp_proxy' }, { name: HCM });
const listenerPart = {
  portNumber,
  name: fc.constantFrom('virtualInbound', 'virtualOutbound', '0.0.0.0_80', '0.0.0.0_9000'),
};

function listenerMatch(
  chain: { readonly [field: string]: Value },
  more: { readonly [field: string]: Value } = {},
): Shape {
  const filterChain = some({
    transportProtocol: fc.constantFrom('tls', 'raw_buffer'),
    destinationPort: portNumber,
    applicationProtocols: fc.constantFrom('h2', 'istio,h2'),
    ...chain,
  });
  return some({ ...listenerPart, ...more, filterChain }).map(listener => ({ listener }));
}

const routeMatch: Shape = some({
  portNumber,
  name: fc.constantFrom('80', '9000', 'http.80'),
  vhost: some({
    name: fc.constantFrom('allow_any', 'block_all', 'inbound|http|80', 'alpha.prod.svc.cluster.local:80'),
    domainName: fc.constantFrom('*', 'alpha.prod.svc.cluster.local'),
    route: some({ name: fc.constantFrom('default', 'allow_any'), action: fc.constantFrom('ROUTE', 'REDIRECT', 'ANY') }),
  }),
}).map(routeConfiguration => ({ routeConfiguration }));

const clusterMatch: Shape = fc
  .oneof(
    some({ service: host, subset, portNumber }),
    all({
      name: fc.constantFrom('BlackHoleCluster', 'PassthroughCluster', 'outbound|80||alpha.prod.svc.cluster.local'),
    }),
  )
  .map(cluster => ({ cluster }));

const route: JsonObject = {
  name: 'patched',
  match: { prefix: '/patched' },
  direct_response: { status: 418 },
};
const virtualHost: JsonObject = { name: 'added', domains: ['added.test'], routes: [route] };
const cluster: JsonObject = { name: 'added', connect_timeout: '1s', type: 'STATIC' };

interface Target {
  readonly applyTo: string;
  readonly match: Shape;
  readonly values: readonly JsonObject[];
}

const targets: readonly Target[] = [
  {
    applyTo: 'CLUSTER',
    match: clusterMatch,
    values: [
      cluster,
      { name: 'BlackHoleCluster', connect_timeout: '0s' },
      { connect_timeout: '3s', lb_policy: 'RING_HASH', ring_hash_lb_config: { minimum_ring_size: 64 } },
      { circuit_breakers: { thresholds: [{ max_connections: 5 }] } },
      { type: 'STRICT_DNS', metadata: { filter_metadata: { istio: { a: 1 } } } },
      { transport_socket: { name: 'envoy.transport_sockets.tls', typed_config: upstreamTls } },
      { transport_socket: { name: 'envoy.transport_sockets.tls', typed_config: router } },
    ],
  },
  {
    applyTo: 'LISTENER',
    match: listenerMatch({}),
    values: [
      { name: 'added', address: { socket_address: { address: '0.0.0.0', port_value: 15999 } } },
      { name: '0.0.0.0_80', address: { socket_address: { address: '0.0.0.0', port_value: 80 } } },
      { enable_reuse_port: false, per_connection_buffer_limit_bytes: 1024 },
    ],
  },
  {
    applyTo: 'LISTENER_FILTER',
    match: listenerMatch({}, { listenerFilter: fc.constantFrom('envoy.filters.listener.tls_inspector', 'none') }),
    values: [{ name: 'added' }, { name: 'envoy.filters.listener.tls_inspector', typed_config: inspector }],
  },
  {
    applyTo: 'FILTER_CHAIN',
    match: listenerMatch({ name: fc.constantFrom('PassthroughFilterChain', 'virtualInbound') }),
    values: [
      { name: 'added', filters: [{ name: 'envoy.filters.network.tcp_proxy', typed_config: tcpProxy }] },
      { transport_socket_connect_timeout: '1s' },
      { transport_socket: { name: 'envoy.transport_sockets.tls', typed_config: upstreamTls } },
    ],
  },
  {
    applyTo: 'NETWORK_FILTER',
    match: listenerMatch({ filter: plainFilter }),
    values: [
      { name: HCM, typed_config: manager },
      { name: 'renamed' },
      { name: 'envoy.filters.network.tcp_proxy', typed_config: tcpProxy },
    ],
  },
  {
    applyTo: 'HTTP_FILTER',
    match: listenerMatch({ filter: networkFilter }),
    values: [
      { name: 'lua', typed_config: lua },
      { name: 'envoy.filters.http.router', typed_config: router },
      { name: 'lua', config_discovery: { config_source: { ads: {} }, type_urls: [`${TYPE}a.B`] } },
    ],
  },
  {
    applyTo: 'ROUTE_CONFIGURATION',
    match: routeMatch,
    values: [{ request_headers_to_remove: ['x-a'] }, { name: 'renamed' }, { virtual_hosts: [virtualHost] }],
  },
  {
    applyTo: 'VIRTUAL_HOST',
    match: routeMatch,
    values: [virtualHost, { response_headers_to_remove: ['x-b'] }, { name: 'renamed', domains: ['renamed.test'] }],
  },
  {
    applyTo: 'HTTP_ROUTE',
    match: routeMatch,
    values: [route, { route: { timeout: '7s' } }, { redirect: { path_redirect: '/x' } }],
  },
  {
    applyTo: 'EXTENSION_CONFIG',
    match: fc.constant<JsonObject>({}),
    values: [{ name: 'lua', typed_config: lua }],
  },
];

const operation = fc.constantFrom('MERGE', 'ADD', 'REMOVE', 'INSERT_FIRST', 'INSERT_BEFORE', 'INSERT_AFTER', 'REPLACE');

const patch: Shape = fc.constantFrom(...targets).chain(({ applyTo, match, values }) =>
  fc
    .tuple(fc.option(match, { nil: {} }), context, proxy, operation, fc.constantFrom(...values))
    .map(([object, where, who, what, value]) => ({
      applyTo,
      match: { ...object, context: where, proxy: who },
      patch: { operation: what, value },
    })),
);

export const envoyFilter: Shape = istio(
  'networking',
  'EnvoyFilter',
  both(all({ workloadSelector, configPatches: list(patch, 1, 4) }), some({ priority: fc.constantFrom(-1, 0, 1, 10) })),
).map(found => ({ ...found, apiVersion: 'networking.istio.io/v1alpha3' }));
