// Law 2 in ambient mode: a waypoint, sidecars and gateways live through histories in which services and workloads come
// under the waypoint, are captured, and leave.

import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Event, Fact } from '../../src/core/event.ts';
import { anyFact, numbered, someConnected } from '../../src/testing/facts.ts';
import { checked, checkedSilence, type Moment } from './law-2.ts';
import { parameters } from './seed.ts';

type Sourced = { readonly source: string } & Fact;

const GATEWAY = 'gateway.networking.k8s.io/gateway-name';
const MANAGED = { 'gateway.istio.io/managed': 'istio.io-mesh-controller', [GATEWAY]: 'way' };

const ambient: Sourced = { source: 'cli', kind: 'Engine', settings: { env: { PILOT_ENABLE_AMBIENT: 'true' } } };

const waypointConnected: Sourced = {
  source: 'xds',
  kind: 'ProxyConnected',
  connection: 'waypoint-1',
  protocol: 'delta',
  node: {
    id: 'waypoint~10.1.0.12~way-1.prod~prod.svc.cluster.local',
    metadata: { NAMESPACE: 'prod', CLUSTER_ID: 'Kubernetes', LABELS: MANAGED, INSTANCE_IPS: '10.1.0.12' },
  },
};

const some = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

const gateway = fc
  .record({ kinds: some('service', 'workload', 'all', 'none'), ready: fc.boolean(), from: some('Same', 'All') })
  .map(({ kinds, ready, from }): JsonObject => {
    const status: JsonObject = { addresses: [{ type: 'Hostname', value: 'way.prod.svc.cluster.local' }] };
    return {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'way', namespace: 'prod', labels: { 'istio.io/waypoint-for': kinds } },
      spec: {
        gatewayClassName: 'istio-waypoint',
        listeners: [{ name: 'mesh', port: 15008, protocol: 'HBONE', allowedRoutes: { namespaces: { from } } }],
      },
      ...(ready ? { status } : {}),
    };
  });

const waypointService: JsonObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'way', namespace: 'prod', labels: MANAGED },
  spec: {
    clusterIP: '10.96.0.250',
    ports: [{ name: 'mesh', port: 15008, targetPort: 15008 }],
    selector: { [GATEWAY]: 'way' },
  },
};

const use = some<JsonObject>({}, { 'istio.io/use-waypoint': 'way' }, { 'istio.io/use-waypoint': 'none' });

const namespace = fc.tuple(some('prod', 'test'), use, fc.boolean()).map(([name, labels, ingress]): JsonObject => {
  const asks: JsonObject = ingress ? { 'istio.io/ingress-use-waypoint': 'true' } : {};
  const place: JsonObject = name === 'test' ? { 'istio.io/use-waypoint-namespace': 'prod' } : {};
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { ...labels, ...asks, ...place } } };
});

const service = fc
  .tuple(some('alpha', 'beta'), use, some('http', 'tcp', 'other'))
  .map(([name, labels, portName]): JsonObject => {
    return {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'prod', labels },
      spec: { clusterIP: `10.96.0.${name.length}`, ports: [{ name: portName, port: 80 }], selector: { app: name } },
    };
  });

const pod = fc
  .tuple(some('alpha', 'beta'), fc.nat({ max: 3 }), use, fc.boolean(), some('Running', 'Succeeded'))
  .map(([app, n, labels, captured, phase]): JsonObject => {
    const annotations: JsonObject = captured ? { 'ambient.istio.io/redirection': 'enabled' } : {};
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${app}-${n}`, namespace: 'prod', labels: { app, ...labels }, annotations },
      spec: { containers: [] },
      status: { phase, podIP: `10.1.0.${n + 1}`, podIPs: [{ ip: `10.1.0.${n + 1}` }] },
    };
  });

const policy = some('alpha', 'beta', 'way').map((name): JsonObject => {
  const target: Json =
    name === 'way' ? { group: 'gateway.networking.k8s.io', kind: 'Gateway', name } : { kind: 'Service', name };
  return {
    apiVersion: 'security.istio.io/v1',
    kind: 'AuthorizationPolicy',
    metadata: { name, namespace: 'prod' },
    spec: { targetRefs: [target], action: 'DENY', rules: [{}] },
  };
});

const ambientObject = fc.oneof(gateway, fc.constant(waypointService), namespace, service, pod, policy);

const ambientFact: fc.Arbitrary<Sourced> = fc.tuple(ambientObject, fc.nat({ max: 3 })).map(([object, n]): Sourced => {
  if (n > 0) return { source: 'kube/Kubernetes', kind: 'Add', object };
  const { name, namespace: place = '' } = object.metadata as { readonly name: string; readonly namespace?: string };
  const ref = { apiVersion: String(object.apiVersion), kind: String(object.kind), namespace: place, name };
  return { source: 'kube/Kubernetes', kind: 'Delete', ref };
});

const anyAmbientFact = fc.oneof({ weight: 3, arbitrary: ambientFact }, { weight: 2, arbitrary: anyFact });

const history: fc.Arbitrary<readonly Event[]> = fc
  .tuple(someConnected, fc.array(anyAmbientFact, { minLength: 5, maxLength: 60, size: 'max' }))
  .map(([connected, facts]) => {
    const start: Sourced[] = [{ source: 'kube/Kubernetes', kind: 'Add', object: waypointService }];
    return numbered([ambient, waypointConnected, ...connected, ...start, ...facts]);
  });

const then = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Moment['next']>('wait') },
  { weight: 3, arbitrary: fc.constant<Moment['next']>('push') },
  { weight: 1, arbitrary: some<Moment['next']>('sweep', 'check') },
);

const moments: fc.Arbitrary<readonly Moment[]> = history.chain(events =>
  fc.tuple(...events.map(event => then.map((next): Moment => ({ event, next })))),
);

describe('law 2 in ambient mode', () => {
  it('holds for waypoints, sidecars and gateways whatever comes under a waypoint and leaves it', () => {
    fc.assert(
      fc.property(moments, all => checked(all)),
      parameters(40),
    );
  });

  it('holds for changes that notify no proxy: they change no response', () => {
    fc.assert(
      fc.property(history, events => checkedSilence(events)),
      parameters(40),
    );
  });
});
