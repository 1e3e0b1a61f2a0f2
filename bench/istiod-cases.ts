// The inputs of istiod's own generation benchmarks by their names: the same number and shape of objects as there (Istio
// pilot/pkg/xds/bench_test.go), written for this bench. Each service is a ServiceEntry; the proxy is the one endpoint of a service of its own.

import type { Json, JsonObject } from '../src/core/base/json.ts';
import type { Unrecorded } from '../src/core/event.ts';

export const caseNames = [
  'http',
  'tcp',
  'auto',
  'virtualservice',
  'telemetry-api',
  'envoy-filters',
  'serviceentry-workloadentry',
  'gateways',
  'gateways-shared',
] as const;
export type CaseName = (typeof caseNames)[number];

export interface IstiodCase {
  readonly facts: readonly Unrecorded[];
  readonly connection: string;
}

const SOURCE = 'file/Kubernetes';
const CONNECTION = 'proxy-of-the-case';
const ADDRESS = '10.9.9.9';
const LABEL = { 'example.com/gateway': 'yes' };
const MESH = 'MESH_INTERNAL';
const SERVICES = 100;
const FILTERS = 50;
const GATEWAYS = 1_000;
const WORKLOADS = 1_000;

const http = port(80, 'http', 'HTTP');
const tcp = port(7070, 'tcp', 'TCP');
const auto = port(9090, 'auto', '');
/** One of each way to find out the protocol. */
const four = [http, tcp, port(443, 'https', 'HTTPS'), auto];

const cases: Readonly<Record<CaseName, () => readonly JsonObject[]>> = {
  http: () => [own([http]), ...many(SERVICES, i => internal(i, [http]))],
  tcp: () => [own([tcp]), ...many(SERVICES, i => internal(i, [tcp]))],
  auto: () => [own([auto]), ...many(SERVICES, i => internal(i, [auto]))],
  virtualservice: () => [own([http]), ...many(SERVICES, i => [external(i, [http]), rewriting(i)]).flat()],
  'telemetry-api': () => [telemetry(), own(four), ...many(SERVICES, i => external(i, four))],
  'envoy-filters': () => [own([http]), ...many(SERVICES, i => internal(i, [http])), ...many(FILTERS, patches)],
  'serviceentry-workloadentry': () => [
    own(four),
    ...many(SERVICES, i => entry(`svc-${i}`, host(i), four, { location: MESH, workloadSelector: { labels: app(i) } })),
    ...many(WORKLOADS, workload),
  ],
  gateways: () => [own([http], LABEL), ...many(GATEWAYS, separateGateway).flat()],
  'gateways-shared': () => [
    own([http], LABEL),
    gateway('shared', ['a', 'b', 'c'].map(sharedHost)),
    ...many(GATEWAYS, i => [external(i, [http]), sharedRoute(i)]).flat(),
  ],
};

export function istiodCase(name: CaseName): IstiodCase {
  const facts: Unrecorded[] = cases[name]().map(object => ({ source: SOURCE, kind: 'Add', object }));
  return { facts: [...facts, proxy(name.startsWith('gateways'))], connection: CONNECTION };
}

/** Each patches something of everything: a filter of all listeners, one service's cluster and one virtual host. */
function patches(i: number): JsonObject {
  const hcm = 'envoy.filters.network.http_connection_manager';
  const router = 'envoy.filters.http.router';
  const lua = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua',
    default_source_code: { inline_string: `-- ${i}` },
  };
  const context = 'SIDECAR_OUTBOUND';
  const configPatches = [
    {
      applyTo: 'HTTP_FILTER',
      match: { context, listener: { filterChain: { filter: { name: hcm, subFilter: { name: router } } } } },
      patch: { operation: 'INSERT_BEFORE', value: { name: `lua-${i}`, typed_config: lua } },
    },
    {
      applyTo: 'CLUSTER',
      match: { context, cluster: { service: host(i) } },
      patch: { operation: 'MERGE', value: { circuit_breakers: { thresholds: [{ max_connections: i }] } } },
    },
    {
      applyTo: 'VIRTUAL_HOST',
      match: { context, routeConfiguration: { vhost: { domainName: host(i) } } },
      patch: { operation: 'MERGE', value: { request_headers_to_remove: [`x-${i}`] } },
    },
  ];
  const made = istio('EnvoyFilter', `patches-${i}`, { configPatches }, 'istio-system');
  return { ...made, apiVersion: 'networking.istio.io/v1alpha3' };
}

/** In a namespace of its own, seen by nobody else: nothing that the proxy has follows from it. */
export function irrelevantChange(round: number): Unrecorded {
  const spec = {
    host: 'elsewhere.example.com',
    exportTo: ['.'],
    trafficPolicy: { connectionPool: { tcp: { maxConnections: 1 + round } } },
  };
  return { source: SOURCE, kind: 'Update', object: istio('DestinationRule', 'elsewhere', spec, 'elsewhere') };
}

function many<T>(count: number, make: (i: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

function port(number: number, name: string, protocol: string): JsonObject {
  return { number, name, protocol };
}

function istio(kind: string, name: string, spec: JsonObject, namespace = 'default'): JsonObject {
  const metadata = { name, namespace, creationTimestamp: '2026-01-01T00:00:00Z' };
  return { apiVersion: 'networking.istio.io/v1', kind, metadata, spec };
}

function entry(name: string, hostname: string, ports: readonly JsonObject[], rest: JsonObject): JsonObject {
  return istio('ServiceEntry', name, { hosts: [hostname], ports, resolution: 'STATIC', ...rest });
}

function own(ports: readonly JsonObject[], labels: JsonObject = {}): JsonObject {
  const endpoints: Json = [{ address: ADDRESS, labels: { 'security.istio.io/tlsMode': 'istio', ...labels } }];
  return entry('own', 'own.example.com', ports, { location: MESH, endpoints });
}

function internal(i: number, ports: readonly JsonObject[]): JsonObject {
  const place = `${i >> 8}.${i & 255}`;
  const endpoints: Json = [{ address: `10.2.${place}`, labels: { 'security.istio.io/tlsMode': 'istio' } }];
  return entry(`svc-${i}`, host(i), ports, { addresses: [`10.1.${place}`], location: MESH, endpoints });
}

function external(i: number, ports: readonly JsonObject[]): JsonObject {
  return entry(`svc-${i}`, host(i), ports, { endpoints: [{ address: '10.3.0.1' }] });
}

function rewriting(i: number): JsonObject {
  const match = [{ uri: { prefix: '/old' } }, { uri: { regex: '/older' } }];
  const route = [{ destination: { host: host(i) } }];
  return istio('VirtualService', `vs-${i}`, {
    hosts: [host(i)],
    http: [{ name: 'renamed', match, rewrite: { uri: '/new' }, route }],
  });
}

function telemetry(): JsonObject {
  const spec = {
    metrics: [{ providers: [{ name: 'prometheus' }] }],
    accessLogging: [{ providers: [{ name: 'envoy' }] }],
  };
  return { ...istio('Telemetry', 'everything', spec, 'istio-system'), apiVersion: 'telemetry.istio.io/v1' };
}

function workload(i: number): JsonObject {
  const address = `10.4.${i >> 8}.${i & 255}`;
  return istio('WorkloadEntry', `we-${i}`, { serviceAccount: 'some', address, labels: app(i % SERVICES) });
}

function separateGateway(i: number): readonly JsonObject[] {
  const hosts = ['a', 'b', 'c'].map(letter => `${letter}-${i}.example.com`);
  return [gateway(`gw-${i}`, hosts), toService(`vs-${i}`, hosts, `gw-${i}`, [`/path-${i}`], i), external(i, [http])];
}

function sharedRoute(i: number): JsonObject {
  const paths = ['a', 'b', 'c', 'd', 'e', 'f'].map(letter => `/path-${letter}-${i}`);
  return toService(`vs-${i}`, ['a', 'b', 'c'].map(sharedHost), 'shared', paths, i);
}

function toService(
  name: string,
  hosts: readonly string[],
  through: string,
  paths: readonly string[],
  i: number,
): JsonObject {
  const match = paths.map(prefix => ({ uri: { prefix } }));
  const spec = {
    hosts,
    gateways: [`edge/${through}`],
    http: [{ match, route: [{ destination: { host: host(i) } }] }],
  };
  return istio('VirtualService', name, spec, 'edge');
}

function gateway(name: string, hosts: readonly string[]): JsonObject {
  const servers: Json = [
    { port: port(80, 'http', 'HTTP'), hosts },
    { port: port(443, 'https', 'HTTPS'), hosts, tls: { mode: 'ISTIO_MUTUAL' } },
  ];
  return istio('Gateway', name, { selector: LABEL, servers }, 'edge');
}

function host(i: number): string {
  return `svc-${i}.example.com`;
}

function sharedHost(letter: string): string {
  return `shared-${letter}.example.com`;
}

function app(i: number): JsonObject {
  return { app: `svc-${i}` };
}

function proxy(isGateway: boolean): Unrecorded {
  const [role, namespace] = isGateway ? ['router', 'edge'] : ['sidecar', 'default'];
  return {
    source: 'xds',
    kind: 'ProxyConnected',
    connection: CONNECTION,
    protocol: 'delta',
    node: {
      id: `${role}~${ADDRESS}~own.${namespace}~${namespace}.svc.cluster.local`,
      cluster: `own.${namespace}`,
      metadata: {
        NAMESPACE: namespace,
        CLUSTER_ID: 'Kubernetes',
        INSTANCE_IPS: ADDRESS,
        ISTIO_VERSION: '1.30.3',
        LABELS: LABEL,
      },
    },
  };
}
