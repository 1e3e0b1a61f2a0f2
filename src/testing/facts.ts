// Arbitrary histories: facts of sources and of proxies, colliding, out of order, repeated.

import type { Arbitrary } from 'fast-check';
import type { Json, JsonObject } from '../core/base/json.ts';
import type { Event, Fact, MeshLayer } from '../core/event.ts';
import { fc } from './fast-check.ts';
import { anyObject } from './objects.ts';
import { meshConfig, meshNetworks } from './worlds/edges.ts';

export const CONNECTIONS = ['sidecar-1', 'sidecar-2', 'sidecar-3', 'gateway-1', 'gateway-2'] as const;

const SOURCES = ['file/Kubernetes', 'kube/Kubernetes', 'file/remote'] as const;

/**
 * Nodes of the connections: three sidecars of different namespaces, one of them on a plain Envoy that captures nothing,
 * one with two addresses and in another cluster and network; two gateways, one of them on a plain Envoy.
 */
export const NODES: Readonly<Record<(typeof CONNECTIONS)[number], JsonObject>> = {
  'sidecar-1': {
    id: 'sidecar~10.1.0.1~alpha.prod~prod.svc.cluster.local',
    cluster: 'alpha.prod',
    metadata: {
      NAMESPACE: 'prod',
      CLUSTER_ID: 'Kubernetes',
      LABELS: { app: 'alpha', version: 'v1' },
      INSTANCE_IPS: '10.1.0.1',
    },
  },
  'sidecar-2': {
    id: 'sidecar~10.1.0.2~beta.test~test.svc.cluster.local',
    cluster: 'beta.test',
    metadata: { NAMESPACE: 'test', CLUSTER_ID: 'Kubernetes', LABELS: { app: 'beta' }, INTERCEPTION_MODE: 'NONE' },
  },
  'gateway-1': {
    id: 'router~10.1.0.3~gw.istio-system~istio-system.svc.cluster.local',
    cluster: 'gw.istio-system',
    metadata: { NAMESPACE: 'istio-system', CLUSTER_ID: 'Kubernetes', LABELS: { istio: 'ingressgateway' } },
  },
  'sidecar-3': {
    id: 'sidecar~10.1.0.4~gamma.prod~prod.svc.cluster.local',
    cluster: 'gamma.prod',
    locality: { region: 'r1', zone: 'r1-a' },
    metadata: {
      NAMESPACE: 'prod',
      CLUSTER_ID: 'remote',
      NETWORK: 'n1',
      LABELS: { app: 'gamma', version: 'v2', 'security.istio.io/tlsMode': 'istio' },
      INSTANCE_IPS: '10.1.0.4,fd00::4',
      ISTIO_VERSION: '1.30.3',
      INTERCEPTION_MODE: 'TPROXY',
      DNS_CAPTURE: 'true',
    },
  },
  'gateway-2': {
    id: 'router~10.1.0.5~alpha.prod~prod.svc.cluster.local',
    cluster: 'alpha.prod',
    metadata: {
      NAMESPACE: 'prod',
      CLUSTER_ID: 'Kubernetes',
      LABELS: { app: 'alpha', istio: 'ingressgateway' },
      ROUTER_MODE: 'sni-dnat',
      UNPRIVILEGED_POD: 'true',
    },
  },
};

const WITH_EXTENSIONS: readonly string[] = ['sidecar-2', 'gateway-2'];
export const EXTENSIONS_DIGEST = 'plain-envoy';
const EXTENSIONS: Json = [
  { name: 'envoy.filters.http.router', category: 'envoy.filters.http' },
  { name: 'envoy.filters.network.http_connection_manager', category: 'envoy.filters.network' },
];

const connection = fc.constantFrom(...CONNECTIONS);

export function connected(c: (typeof CONNECTIONS)[number]): { readonly source: string } & Fact {
  return {
    source: 'xds',
    kind: 'ProxyConnected',
    connection: c,
    node: NODES[c],
    protocol: 'delta',
    ...(WITH_EXTENSIONS.includes(c) ? { extensions: EXTENSIONS_DIGEST } : {}),
  };
}

/** Some of the proxies, before anything else. */
export const someConnected = fc.subarray([...CONNECTIONS], { minLength: 2 }).map(all => all.map(connected));

const objectFact: Arbitrary<Fact> = fc.oneof(
  { weight: 7, arbitrary: anyObject.map((object): Fact => ({ kind: 'Add', object })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(anyObject, fc.nat({ max: 9 }))
      .map(([object, line]): Fact => ({ kind: 'Update', object, origin: { file: 'a.yaml', line } })),
  },
  {
    weight: 2,
    arbitrary: anyObject.map((object): Fact => {
      const meta = object.metadata as JsonObject;
      const ref = { apiVersion: String(object.apiVersion), kind: String(object.kind), name: String(meta.name) };
      return { kind: 'Delete', ref: { ...ref, namespace: String(meta.namespace ?? '') } };
    }),
  },
);

/** What several may subscribe to by its digest, which has been listed before or has not. */
const LISTS: Readonly<Record<string, readonly string[]>> = { ports: ['5432', '80'], more: ['80', '9000', 'x'] };

const namesFact = fc
  .constantFrom(...Object.keys(LISTS))
  .map((digest): Fact => ({ kind: 'Names', digest, names: LISTS[digest]! }));

const proxyFact: Arbitrary<Fact> = fc.oneof(
  namesFact,
  fc.tuple(connection, fc.constantFrom(...Object.keys(LISTS)), fc.subarray(['80', '9000']), fc.subarray(['80'])).map(
    ([c, list, subscribe, unsubscribe]): Fact => ({
      kind: 'ProxySubscribed',
      connection: c,
      typeUrl: 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration',
      list,
      subscribe,
      unsubscribe,
      wildcard: false,
    }),
  ),
  connection.map(connected),
  connection.map((c): Fact => ({ ...connected(c), identities: ['spiffe://cluster.local/ns/prod/sa/default'] }) as Fact),
  connection.map((c): Fact => ({ kind: 'ProxyDisconnected', connection: c, reason: 'closed' })),
  fc.tuple(connection, fc.subarray(['80', '9000', '5432'])).map(
    ([c, names]): Fact => ({
      kind: 'ProxySubscribed',
      connection: c,
      typeUrl: 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration',
      subscribe: names,
      unsubscribe: ['9000'],
      wildcard: false,
    }),
  ),
  connection.map(
    (c): Fact => ({
      kind: 'ProxyNacked',
      connection: c,
      typeUrl: 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
      message: 'no',
    }),
  ),
);

/** Flags that generation reads, and where the control plane runs. */
const settings: Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  {},
  { domainSuffix: 'cluster.local', clusterId: 'Kubernetes', env: { PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES: 'true' } },
  { env: { PILOT_HTTP10: 'true', ENABLE_HCM_INTERNAL_NETWORKS: 'true', PILOT_DISABLE_MX_ALPN: 'true' } },
  { env: { ISTIO_DUAL_STACK: 'true', PILOT_SEND_UNHEALTHY_ENDPOINTS: 'true', ENABLE_TLS_ON_SIDECAR_INGRESS: 'true' } },
  { env: { PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: 'true', PILOT_SCOPE_GATEWAY_TO_NAMESPACE: 'true' } },
);

/** The source of a mesh configuration: usually the file. */
const standing = fc.constantFrom<{ readonly layer?: MeshLayer }>(
  {},
  {},
  {},
  { layer: 'configMap' },
  { layer: 'shared' },
);

const otherFact: Arbitrary<Fact> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(meshConfig, standing).map(([value, at]): Fact => ({ kind: 'MeshConfig', ...at, value })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(meshNetworks, standing).map(([value, at]): Fact => ({ kind: 'MeshNetworks', ...at, value })),
  },
  { weight: 1, arbitrary: settings.map((value): Fact => ({ kind: 'Engine', settings: value })) },
  { weight: 1, arbitrary: fc.constant<Fact>({ kind: 'Synced' }) },
  // Of an event that none of the histories comes to: a rejected event is skipped by replays only.
  { weight: 1, arbitrary: fc.constant<Fact>({ kind: 'Rejected', rejected: 1_000_000_000, reason: 'no' }) },
  { weight: 2, arbitrary: fc.constant<Fact>({ kind: 'Interned', digest: EXTENSIONS_DIGEST, value: EXTENSIONS }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Fact>(
      { kind: 'Malformed', origin: { file: 'a.yaml', line: 3 }, reasons: ['3:1: no'] },
      { kind: 'Malformed', origin: { file: 'b.yaml', line: 1 }, reasons: [], ignored: ['1:1: of another project'] },
      { kind: 'Malformed', origin: { file: 'a.yaml' }, reasons: [] },
      { kind: 'Malformed', origin: { file: 'a.yaml', line: 5 }, reasons: [], ignored: ['5:1: of others'] },
      { kind: 'TimerFired', name: 'relist' },
      { kind: 'Gap', reason: 'no space', since: 1_750_000_000_000, lost: 1 },
    ),
  },
);

/** A fact with its source. */
export const anyFact: Arbitrary<{ readonly source: string } & Fact> = fc
  .tuple(
    fc.constantFrom(...SOURCES),
    fc.oneof(
      { weight: 12, arbitrary: objectFact },
      { weight: 2, arbitrary: proxyFact },
      { weight: 1, arbitrary: otherFact },
    ),
  )
  .map(([source, fact]) => ({ source, ...fact }));

/** Up to `maxLength` facts. Some objects come again with a change outside their projection. */
export function anyHistory(maxLength: number): Arbitrary<readonly Event[]> {
  const isWritten = fc.nat({ max: 7 }).map(n => n === 7);
  return fc
    .array(fc.tuple(anyFact, isWritten), { maxLength, size: 'max' })
    .map(all => all.flatMap(([fact, again]) => (again && 'object' in fact ? [fact, written(fact)] : [fact])))
    .map(facts => numbered(facts.slice(0, maxLength)));
}

function written<F extends { readonly object: JsonObject }>(fact: F): F {
  const { object } = fact;
  return { ...fact, object: { ...object, metadata: { ...(object.metadata as JsonObject), generation: 2 } } };
}

/** The facts as events from seq 1, a second apart. */
export function numbered(facts: readonly ({ readonly source: string } & Fact)[]): readonly Event[] {
  return facts.map((fact, i) => ({ ...fact, seq: i + 1, time: 1_750_000_000_000 + 1_000 * i }));
}
