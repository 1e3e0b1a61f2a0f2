// Arbitrary histories: facts of sources and of proxies, colliding, out of order, repeated.

import fc from 'fast-check';
import type { Event, Fact } from '../../src/core/event.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { anyObject } from './objects.ts';

export const CONNECTIONS = ['sidecar-1', 'sidecar-2', 'gateway-1'] as const;

const SOURCES = ['file/Kubernetes', 'kube/Kubernetes', 'file/remote'] as const;

/** Nodes of the connections: two sidecars of different namespaces, one of them on a plain Envoy, and a gateway. */
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
};

export const EXTENSIONS_DIGEST = 'plain-envoy';

const connection = fc.constantFrom(...CONNECTIONS);

const objectFact: fc.Arbitrary<Fact> = fc.oneof(
  { weight: 8, arbitrary: anyObject.map((object): Fact => ({ kind: 'Add', object })) },
  {
    weight: 2,
    arbitrary: anyObject.map((object): Fact => {
      const meta = object.metadata as JsonObject;
      const ref = { apiVersion: String(object.apiVersion), kind: String(object.kind), name: String(meta.name) };
      return { kind: 'Delete', ref: { ...ref, namespace: String(meta.namespace ?? '') } };
    }),
  },
);

const proxyFact: fc.Arbitrary<Fact> = fc.oneof(
  connection.map(
    (c): Fact => ({
      kind: 'ProxyConnected',
      connection: c,
      node: NODES[c],
      protocol: 'delta',
      ...(c === 'sidecar-2' ? { extensions: EXTENSIONS_DIGEST } : {}),
    }),
  ),
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

const otherFact: fc.Arbitrary<Fact> = fc.oneof(
  fc
    .constantFrom<Json>(
      null,
      {},
      { accessLogFile: '/dev/stdout' },
      { outboundTrafficPolicy: { mode: 'REGISTRY_ONLY' } },
      { accessLogFile: 7 },
    )
    .map((value): Fact => ({ kind: 'MeshConfig', value })),
  fc.constant<Fact>({ kind: 'Synced' }),
  fc.constant<Fact>({ kind: 'Interned', digest: EXTENSIONS_DIGEST, value: [{ name: 'envoy.filters.http.router' }] }),
  fc.constantFrom<Fact>(
    { kind: 'Malformed', origin: { file: 'a.yaml', line: 3 }, reasons: ['3:1: no'] },
    { kind: 'Malformed', origin: { file: 'a.yaml' }, reasons: [] },
  ),
);

/** A fact with its source. */
export const anyFact: fc.Arbitrary<{ readonly source: string } & Fact> = fc
  .tuple(
    fc.constantFrom(...SOURCES),
    fc.oneof(
      { weight: 12, arbitrary: objectFact },
      { weight: 2, arbitrary: proxyFact },
      { weight: 1, arbitrary: otherFact },
    ),
  )
  .map(([source, fact]) => ({ source, ...fact }));

export function anyHistory(maxLength: number): fc.Arbitrary<readonly Event[]> {
  return fc.array(anyFact, { maxLength }).map(facts => numbered(facts));
}

/** The facts as events from seq 1, a second apart. */
export function numbered(facts: readonly ({ readonly source: string } & Fact)[]): readonly Event[] {
  return facts.map((fact, i) => ({ ...fact, seq: i + 1, time: 1_750_000_000_000 + 1_000 * i }));
}
