// Arbitrary edges of a mesh: gateways, Sidecars, ServiceEntries and the workloads outside of Kubernetes.

import type { Arbitrary } from 'fast-check';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { fc } from '../fast-check.ts';
import { connectionPool } from './policies.ts';
import {
  all,
  both,
  duration,
  exportTo,
  ip,
  istio,
  labels,
  list,
  locality,
  name,
  type Shape,
  some,
  type Value,
  workloadSelector,
} from './pools.ts';

const serverTls: Shape = fc.constantFrom<JsonObject>(
  { mode: 'SIMPLE', credentialName: 'credential' },
  { mode: 'SIMPLE', serverCertificate: '/etc/cert.pem', privateKey: '/etc/key.pem', minProtocolVersion: 'TLSV1_2' },
  { mode: 'MUTUAL', credentialName: 'credential', subjectAltNames: ['client.example.com'] },
  { mode: 'MUTUAL', serverCertificate: '/etc/cert.pem', privateKey: '/etc/key.pem', caCertificates: '/etc/ca.pem' },
  { mode: 'OPTIONAL_MUTUAL', credentialName: 'credential' },
  { mode: 'ISTIO_MUTUAL' },
);
const passthrough = fc.constantFrom<JsonObject>({ mode: 'PASSTHROUGH' }, { mode: 'AUTO_PASSTHROUGH' });

const serverHosts: Value = fc.constantFrom<Json>(
  ['*'],
  ['api.example.com'],
  ['*.example.com', 'prod/*'],
  ['./api.example.com'],
  ['alpha.prod.svc.cluster.local'],
);

function server(number: number, protocol: string, tls: Shape | undefined, extra: JsonObject = {}): Shape {
  return both(
    all({
      port: fc.constant<Json>({ number, name: `${protocol.toLowerCase()}-${number}`, protocol }),
      hosts: serverHosts,
    }),
    tls === undefined ? fc.constant({}) : all({ tls }),
    fc.constant(extra),
  );
}

const anyServer: Shape = fc.oneof(
  { weight: 3, arbitrary: server(80, 'HTTP', undefined) },
  { weight: 1, arbitrary: server(80, 'HTTP', fc.constant({ httpsRedirect: true })) },
  { weight: 1, arbitrary: server(8080, 'HTTP2', undefined, { bind: '127.0.0.1' }) },
  { weight: 3, arbitrary: server(443, 'HTTPS', serverTls) },
  { weight: 1, arbitrary: server(443, 'HTTPS', fc.constant({ mode: 'PASSTHROUGH' })) },
  { weight: 1, arbitrary: server(15_443, 'TLS', passthrough) },
  { weight: 1, arbitrary: server(8443, 'TLS', serverTls) },
  { weight: 1, arbitrary: server(5432, 'TCP', undefined) },
  { weight: 1, arbitrary: server(7070, 'GRPC', undefined) },
);

const gateway: Shape = istio(
  'networking',
  'Gateway',
  all({
    selector: fc.constantFrom<Json>({ istio: 'ingressgateway' }, { istio: 'ingressgateway' }, { app: 'alpha' }),
    servers: list(anyServer, 1, 3).map(numbered),
  }),
);

/** Names of ports differ within a Gateway, even for equal numbers. */
function numbered(servers: Json): Json {
  return (servers as readonly JsonObject[]).map((one, i) => {
    const port = one.port as JsonObject;
    return { ...one, port: { ...port, name: `${String(port.name)}-${i}` } };
  });
}

const sidecarPort = (number: number, protocol: string): Json => ({
  number,
  protocol,
  name: `${protocol.toLowerCase()}-${number}`,
});
const egressHosts: Value = fc.constantFrom<Json>(
  ['./*'],
  ['*/*'],
  ['prod/*', 'istio-system/*'],
  ['*/alpha.prod.svc.cluster.local'],
  ['~/*'],
);
const sidecar: Shape = istio(
  'networking',
  'Sidecar',
  both(
    all({
      workloadSelector,
      egress: fc.oneof(
        egressHosts.map((hosts): Json => [{ hosts: hosts! }]),
        fc
          .tuple(egressHosts, egressHosts, fc.constantFrom('HTTP', 'TCP', 'HTTPS'))
          .map(
            ([a, b, protocol]): Json => [
              { port: sidecarPort(9000, protocol), hosts: a!, bind: '127.0.0.1', captureMode: 'NONE' },
              { hosts: b! },
            ],
          ),
        fc
          .tuple(egressHosts, fc.constantFrom('HTTP', 'GRPC', 'TCP'))
          .map(([a, protocol]): Json => [{ port: sidecarPort(7070, protocol), hosts: a! }]),
      ),
    }),
    some({
      outboundTrafficPolicy: fc.constantFrom<Json>(
        { mode: 'ALLOW_ANY' },
        { mode: 'REGISTRY_ONLY' },
        { mode: 'ALLOW_ANY', egressProxy: { host: 'alpha.prod.svc.cluster.local', port: { number: 80 } } },
      ),
      inboundConnectionPool: connectionPool,
    }),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant<JsonObject>({}) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('HTTP', 'TCP', 'HTTPS').map(
          (protocol): JsonObject => ({
            workloadSelector: { labels: { app: 'alpha' } },
            ingress: [
              { port: sidecarPort(8080, protocol), defaultEndpoint: '127.0.0.1:8081' },
              { port: sidecarPort(5432, 'TCP'), defaultEndpoint: 'unix:///var/run/db.sock' },
            ],
          }),
        ),
      },
    ),
  ),
);

const workload: Shape = both(
  all({ address: ip }),
  some({
    labels,
    network: fc.constantFrom('n1', 'n2'),
    locality,
    weight: fc.constantFrom(1, 10),
    serviceAccount: fc.constant('robot'),
  }),
);
const entryPorts: Value = fc.constantFrom<Json>(
  [{ number: 80, name: 'http', protocol: 'HTTP' }],
  [{ number: 443, name: 'tls', protocol: 'TLS' }],
  [
    { number: 80, name: 'http', protocol: 'HTTP', targetPort: 8080 },
    { number: 5432, name: 'db', protocol: 'TCP' },
  ],
  [{ number: 443, name: 'https', protocol: 'HTTPS' }],
  [{ number: 7070, name: 'grpc', protocol: 'GRPC' }],
);
const entryMore: Shape = some({
  location: fc.constantFrom('MESH_EXTERNAL', 'MESH_INTERNAL'),
  subjectAltNames: fc.constant<Json>(['spiffe://cluster.local/ns/a/sa/b']),
});
const exact: Value = fc.constantFrom<Json>(
  ['api.example.com'],
  ['alpha.prod.svc.cluster.local'],
  ['api.example.com', 'nowhere.example.org'],
);

const serviceEntry: Shape = istio(
  'networking',
  'ServiceEntry',
  fc.oneof(
    both(
      all({
        hosts: fc.constantFrom<Json>(['api.example.com'], ['*.example.com']),
        ports: entryPorts,
        exportTo,
        resolution: fc.constant('NONE'),
      }),
      some({ addresses: fc.constantFrom<Json>(['240.1.1.1'], ['240.1.0.0/16', '240.2.0.1']) }),
      entryMore,
    ),
    both(
      all({ hosts: exact, ports: entryPorts, exportTo, resolution: fc.constant('STATIC') }),
      fc.oneof(
        all({ endpoints: list(workload, 1, 3) }),
        all({ workloadSelector: fc.constantFrom<Json>({ labels: { app: 'alpha' } }, { labels: { app: 'beta' } }) }),
      ),
      some({ addresses: fc.constant<Json>(['240.1.1.2']) }),
      entryMore,
    ),
    both(
      all({ hosts: exact, ports: entryPorts, exportTo, resolution: fc.constantFrom('DNS', 'DNS_ROUND_ROBIN') }),
      some({
        endpoints: fc.constantFrom<Json>(
          [{ address: 'one.example.org' }],
          [{ address: 'two.example.org', locality: 'r1', weight: 3 }],
        ),
      }),
      entryMore,
    ),
    both(
      all({
        hosts: fc.constant<Json>(['*.example.com']),
        ports: fc.constantFrom<Json>(
          [{ number: 80, name: 'http', protocol: 'HTTP' }],
          [{ number: 443, name: 'tls', protocol: 'TLS' }],
        ),
        resolution: fc.constant('DYNAMIC_DNS'),
        location: fc.constant('MESH_EXTERNAL'),
      }),
    ),
  ),
);

const workloadEntry: Shape = istio('networking', 'WorkloadEntry', workload, {
  name: fc.tuple(name).map(([n]) => `${n}-vm`),
});

const workloadGroup: Shape = istio(
  'networking',
  'WorkloadGroup',
  all({ metadata: all({ labels }), template: some({ serviceAccount: name, network: fc.constant('n1') }) }),
);

export const edgeObject: Shape = fc.oneof(
  { weight: 5, arbitrary: gateway },
  { weight: 4, arbitrary: sidecar },
  { weight: 6, arbitrary: serviceEntry },
  { weight: 2, arbitrary: workloadEntry },
  { weight: 1, arbitrary: workloadGroup },
);

/** MeshConfig as the istio ConfigMap has it; some are refused. */
export const meshConfig: Arbitrary<Json> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom<Json>(null, {}, { accessLogFile: 7 }, { connectTimeout: '-1s' }) },
  {
    weight: 4,
    arbitrary: some({
      accessLogFile: fc.constantFrom('', '/dev/stdout'),
      accessLogEncoding: fc.constantFrom('TEXT', 'JSON'),
      outboundTrafficPolicy: fc.constantFrom<Json>({ mode: 'REGISTRY_ONLY' }, { mode: 'ALLOW_ANY' }),
      connectTimeout: duration,
      enableTracing: fc.boolean(),
      enableAutoMtls: fc.boolean(),
      protocolDetectionTimeout: fc.constant('0.1s'),
      rootNamespace: fc.constantFrom('istio-system', 'prod'),
      defaultServiceExportTo: fc.constantFrom<Json>(['*'], ['.']),
      defaultVirtualServiceExportTo: fc.constantFrom<Json>(['*'], ['.']),
      defaultDestinationRuleExportTo: fc.constantFrom<Json>(['*'], ['.']),
      localityLbSetting: fc.constantFrom<Json>({ enabled: false }, { failover: [{ from: 'r1', to: 'r2' }] }),
      trustDomain: fc.constantFrom('cluster.local', 'other.example.com'),
      pathNormalization: fc.constantFrom<Json>({ normalization: 'NONE' }, { normalization: 'MERGE_SLASHES' }),
      tcpKeepalive: fc.constant<Json>({ probes: 3, time: '30s', interval: '10s' }),
      h2UpgradePolicy: fc.constantFrom('DO_NOT_UPGRADE', 'UPGRADE'),
      defaultHttpRetryPolicy: fc.constantFrom<Json>({ attempts: 0 }, { attempts: 4, retryOn: '5xx' }),
      defaultConfig: fc.constantFrom<Json>(
        { tracing: { sampling: 12, zipkin: { address: 'alpha.prod:9411' } } },
        { proxyHeaders: { server: { disabled: true }, requestId: { disabled: true } } },
        { gatewayTopology: { numTrustedProxies: 2, forwardClientCertDetails: 'SANITIZE' } },
      ),
      inboundTrafficPolicy: fc.constantFrom<Json>({ mode: 'LOCALHOST' }, { mode: 'PASSTHROUGH' }),
    }),
  },
);

/** MeshNetworks as the istio ConfigMap has it. */
export const meshNetworks: Arbitrary<Json> = fc.constantFrom<Json>(
  null,
  { networks: {} },
  {
    networks: {
      n1: { endpoints: [{ fromRegistry: 'Kubernetes' }], gateways: [{ address: '192.0.2.1', port: 15_443 }] },
    },
  },
  {
    networks: {
      n1: {
        endpoints: [{ fromCidr: '10.1.0.0/29' }],
        gateways: [{ registryServiceName: 'alpha.prod.svc.cluster.local', port: 443 }],
      },
      n2: { endpoints: [{ fromRegistry: 'remote' }], gateways: [{ address: '192.0.2.2', port: 15_443 }] },
    },
  },
);
