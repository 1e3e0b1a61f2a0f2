// Arbitrary DestinationRules and policies of workloads.

import type { Json, JsonObject } from '../../core/base/json.ts';
import { fc } from '../fast-check.ts';
import { envoyFilter } from './envoy-filters.ts';
import {
  all,
  both,
  duration,
  exportTo,
  host,
  istio,
  list,
  matchSelector,
  oneOf,
  portNumber,
  type Shape,
  some,
  subset,
} from './pools.ts';

const few = fc.constantFrom(1, 7, 100);

export const connectionPool: Shape = some({
  tcp: some({
    maxConnections: few,
    connectTimeout: duration,
    tcpKeepalive: some({ probes: few, time: fc.constantFrom('75s', '7200s'), interval: fc.constant('75s') }),
    maxConnectionDuration: duration,
    idleTimeout: duration,
  }).filter(found => Object.keys(found).length > 0),
  http: some({
    http1MaxPendingRequests: few,
    http2MaxRequests: few,
    maxRequestsPerConnection: few,
    maxRetries: few,
    idleTimeout: duration,
    h2UpgradePolicy: fc.constantFrom('DEFAULT', 'DO_NOT_UPGRADE', 'UPGRADE'),
    maxConcurrentStreams: few,
  }).filter(found => Object.keys(found).length > 0),
}).filter(found => Object.keys(found).length > 0);

const localityLbSetting: Shape = fc.constantFrom<JsonObject>(
  { enabled: true },
  { enabled: false },
  { distribute: [{ from: 'r1/r1-a/*', to: { 'r1/r1-a/*': 80, 'r2/*': 20 } }] },
  { failover: [{ from: 'r1', to: 'r2' }] },
  { failoverPriority: ['topology.kubernetes.io/region', 'version=v1'] },
);

const loadBalancer: Shape = fc.oneof(
  both(
    fc.oneof(
      fc.constant<JsonObject>({}),
      oneOf({
        simple: fc.constantFrom('UNSPECIFIED', 'ROUND_ROBIN', 'LEAST_CONN', 'LEAST_REQUEST', 'RANDOM', 'PASSTHROUGH'),
        consistentHash: both(
          oneOf({
            httpHeaderName: fc.constant('x-user'),
            httpCookie: fc.constantFrom<Json>({ name: 'c', ttl: '0s' }, { name: 'c', path: '/', ttl: '60s' }),
            useSourceIp: fc.constant(true),
            httpQueryParameterName: fc.constant('q'),
          }),
          fc.constantFrom<JsonObject>(
            {},
            { ringHash: { minimumRingSize: 2048 } },
            { maglev: { tableSize: 65_537 } },
            { minimumRingSize: 512 },
          ),
        ),
      }),
    ),
    some({ localityLbSetting }),
  ),
  all({
    simple: fc.constantFrom('ROUND_ROBIN', 'LEAST_REQUEST'),
    warmup: both(all({ duration: fc.constant('30s') }), some({ minimumPercent: few, aggression: fc.constant(1.5) })),
  }),
);

const outlierDetection: Shape = some({
  consecutiveGatewayErrors: fc.constantFrom(0, 3),
  consecutive5xxErrors: fc.constantFrom(0, 3),
  interval: fc.constant('10s'),
  baseEjectionTime: fc.constant('30s'),
  maxEjectionPercent: few,
  minHealthPercent: fc.constantFrom(0, 50),
  splitExternalLocalOriginErrors: fc.constant(true),
});

const clientTls: Shape = fc.oneof(
  fc.constant<JsonObject>({ mode: 'DISABLE' }),
  fc.constant<JsonObject>({ mode: 'ISTIO_MUTUAL' }),
  fc.constant<JsonObject>({ mode: 'SIMPLE', insecureSkipVerify: true }),
  both(
    fc.constantFrom<JsonObject>(
      { mode: 'SIMPLE' },
      { mode: 'SIMPLE', caCertificates: '/etc/ca.pem' },
      { mode: 'SIMPLE', credentialName: 'credential' },
      { mode: 'MUTUAL', clientCertificate: '/etc/cert.pem', privateKey: '/etc/key.pem' },
      { mode: 'MUTUAL', credentialName: 'credential' },
    ),
    some({ sni: fc.constant('x.example.com'), subjectAltNames: fc.constant<Json>(['spiffe://a/ns/b/sa/c']) }),
  ),
);

const portPolicy = { loadBalancer, connectionPool, outlierDetection, tls: clientTls };
const trafficPolicy: Shape = both(
  some(portPolicy),
  some({
    portLevelSettings: portNumber.chain(number =>
      list(both(all({ port: fc.constant<Json>({ number }) }), some(portPolicy)), 1, 1),
    ),
    tunnel: fc.constant<Json>({ protocol: 'CONNECT', targetHost: 'x.example.com', targetPort: 443 }),
    proxyProtocol: fc.constantFrom<Json>({ version: 'V1' }, { version: 'V2' }),
    retryBudget: fc.constant<Json>({ percent: 25, minRetryConcurrency: 5 }),
  }),
)
  .filter(found => Object.keys(found).length > 0)
  // Istio lets only one of the two stand.
  .map(found => (found.tunnel === undefined ? found : { ...found, proxyProtocol: undefined }));

export const destinationRule: Shape = istio(
  'networking',
  'DestinationRule',
  both(
    fc.oneof(
      { weight: 4, arbitrary: all({ host, exportTo }) },
      { weight: 1, arbitrary: all({ host, workloadSelector: fc.constant<Json>({ matchLabels: { app: 'alpha' } }) }) },
    ),
    some({
      trafficPolicy,
      subsets: fc
        .uniqueArray(subset, { minLength: 1, maxLength: 2 })
        .chain(names =>
          fc
            .tuple(
              ...names.map(n =>
                both(all({ name: fc.constant(n), labels: fc.constant<Json>({ version: n }) }), some({ trafficPolicy })),
              ),
            )
            .map(found => found as Json),
        ),
    }),
  ),
);

const mode = fc.constantFrom('STRICT', 'PERMISSIVE', 'DISABLE', 'UNSET').map((m): Json => ({ mode: m }));
const peerAuthentication: Shape = istio(
  'security',
  'PeerAuthentication',
  fc.oneof(
    all({ mtls: mode, selector: matchSelector }),
    both(
      all({ selector: fc.constant<Json>({ matchLabels: { app: 'alpha' } }) }),
      some({ mtls: mode, portLevelMtls: fc.tuple(mode, mode).map(([a, b]): Json => ({ 8080: a, 5432: b })) }),
    ),
  ),
);

const requestAuthentication: Shape = istio(
  'security',
  'RequestAuthentication',
  all({
    selector: matchSelector,
    jwtRules: fc.constantFrom<Json>(
      [{ issuer: 'https://issuer.example.com', jwks: '{"keys":[]}' }],
      [
        {
          issuer: 'other',
          jwks: '{"keys":[]}',
          fromHeaders: [{ name: 'x-jwt', prefix: 'Bearer ' }],
          forwardOriginalToken: true,
        },
      ],
    ),
  }),
);

const authorizationPolicy: Shape = istio(
  'security',
  'AuthorizationPolicy',
  both(
    all({ selector: matchSelector, action: fc.constantFrom('ALLOW', 'DENY', 'AUDIT') }),
    all({
      rules: fc.constantFrom<Json>(
        [{}],
        [{ from: [{ source: { namespaces: ['prod'], principals: ['cluster.local/ns/prod/sa/default'] } }] }],
        [{ to: [{ operation: { methods: ['GET'], paths: ['/api/*'], ports: ['80'] } }] }],
        [{ when: [{ key: 'request.headers[x-user]', values: ['jason'] }], to: [{ operation: { notPaths: ['/x'] } }] }],
      ),
    }),
  ),
);

const telemetry: Shape = istio(
  'telemetry',
  'Telemetry',
  both(
    all({ selector: matchSelector }),
    some({
      accessLogging: fc.constantFrom<Json>(
        [{ providers: [{ name: 'envoy' }] }],
        [{ disabled: true }],
        [{ filter: { expression: 'response.code >= 400' } }],
      ),
      tracing: fc.constantFrom<Json>([{ randomSamplingPercentage: 50 }], [{ disableSpanReporting: true }]),
      metrics: fc.constantFrom<Json>(
        [{ providers: [{ name: 'prometheus' }] }],
        [{ providers: [{ name: 'prometheus' }], overrides: [{ match: { metric: 'REQUEST_COUNT' }, disabled: true }] }],
      ),
    }),
  ),
);

const proxyConfig: Shape = istio(
  'networking',
  'ProxyConfig',
  both(
    all({ selector: matchSelector }),
    some({ concurrency: fc.constantFrom(0, 2), environmentVariables: fc.constant<Json>({ A: 'b' }) }),
  ),
).map(found => ({ ...found, apiVersion: 'networking.istio.io/v1beta1' }));

const module: Shape = both(
  all({ url: fc.constantFrom('https://a.test/filter.wasm', 'file:///opt/filter.wasm') }),
  some({ pluginName: fc.constant('p'), pluginConfig: fc.constant<Json>({ a: 1 }) }),
);
const wasmPlugin: Shape = extension('WasmPlugin', both(module, some({ phase: fc.constantFrom('AUTHN', 'STATS') })));
const trafficExtension: Shape = extension(
  'TrafficExtension',
  fc.oneof(all({ wasm: module }), fc.constant<JsonObject>({ lua: { inlineCode: 'function envoy_on_request(h) end' } })),
);

/** A change of its resourceVersion is a change of a WasmPlugin. */
function extension(kind: string, what: Shape): Shape {
  const spec = both(all({ selector: matchSelector }), what, some({ priority: few }));
  return istio('extensions', kind, spec, { resourceVersion: fc.constantFrom('1', '2') }).map(found => ({
    ...found,
    apiVersion: 'extensions.istio.io/v1alpha1',
  }));
}

export const policyObject: Shape = fc.oneof(
  { weight: 5, arbitrary: peerAuthentication },
  { weight: 1, arbitrary: requestAuthentication },
  { weight: 1, arbitrary: authorizationPolicy },
  { weight: 1, arbitrary: telemetry },
  { weight: 1, arbitrary: proxyConfig },
  { weight: 1, arbitrary: envoyFilter },
  { weight: 1, arbitrary: wasmPlugin },
  { weight: 1, arbitrary: trafficExtension },
);
