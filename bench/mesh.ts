// A synthetic mesh of any size, always the same: namespaces of twenty services, each with pods, an EndpointSlice and Istio objects as a
// team would write them, and the endless small changes that a cluster makes.

import type { JsonObject } from '../src/core/base/json.ts';
import type { Fact, Unrecorded } from '../src/core/event.ts';

const SOURCE = 'file/Kubernetes';
const SERVICES_PER_NAMESPACE = 20;
const ENDPOINTS_PER_SERVICE = 4;
/** Every n-th service has a VirtualService, a DestinationRule. */
const ROUTED = 2;
const RULED = 3;
/** Service, slice, pods, and on the average some configuration. */
export const OBJECTS_PER_SERVICE = 2 + ENDPOINTS_PER_SERVICE + 1 / ROUTED + 1 / RULED;

export function namespaceOf(service: number): string {
  return `team-${Math.floor(service / SERVICES_PER_NAMESPACE)}`;
}

function add(object: JsonObject): Unrecorded {
  return { source: SOURCE, kind: 'Add', object };
}

function meta(name: string, namespace: string, labels: JsonObject = {}): JsonObject {
  return { name, namespace, labels, creationTimestamp: '2026-01-01T00:00:00Z' };
}

/** Everything at the start, in the order of a relist. */
export function meshFacts(services: number): readonly Unrecorded[] {
  const facts: Unrecorded[] = [];
  for (let i = 0; i < services; i += SERVICES_PER_NAMESPACE) {
    facts.push(add({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceOf(i) } }));
  }
  for (let i = 0; i < services; i++) {
    facts.push(add(service(i)));
    for (let pod = 0; pod < ENDPOINTS_PER_SERVICE; pod++) facts.push(add(podOf(i, pod)));
    facts.push(add(endpointSlice(i, ENDPOINTS_PER_SERVICE)));
    if (i % ROUTED === 0) facts.push(add(virtualService(i, 50)));
    if (i % RULED === 0) facts.push(add(destinationRule(i, 100)));
  }
  facts.push({ source: SOURCE, kind: 'Synced' });
  return facts;
}

/** The first `count` of `changes`. */
export function churn(services: number, count: number): readonly Unrecorded[] {
  const endless = changes(services);
  return Array.from({ length: count }, () => endless.next().value);
}

/**
 * An endless sequence of changes as a rolling cluster makes them: mostly endpoints, some pods, a little configuration.
 * Each version of an object differs from the one before it.
 */
export function* changes(services: number): Generator<Unrecorded, never> {
  const versions = new Map<string, number>();
  const next = (object: string): number => {
    const version = versions.get(object) ?? 0;
    versions.set(object, version + 1);
    return version;
  };
  for (let i = 0; ; i++) {
    const at = (i * 7919) % services;
    const pod = i % ENDPOINTS_PER_SERVICE;
    const routed = at - (at % ROUTED);
    if (i % 50 === 0) yield update(virtualService(routed, 10 + (next(`route ${routed}`) % 80)));
    else if (i % 10 === 0) yield update(podOf(at, pod, next(`pod ${at} ${pod}`) % 2 === 1));
    else yield update(endpointSlice(at, 1 + (next(`slice ${at}`) % ENDPOINTS_PER_SERVICE)));
  }
}

export function update(object: JsonObject): Unrecorded {
  return { source: SOURCE, kind: 'Update', object };
}

function service(i: number): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta(`svc-${i}`, namespaceOf(i), { app: `svc-${i}` }),
    spec: {
      type: 'ClusterIP',
      clusterIP: `10.${96 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`,
      selector: { app: `svc-${i}` },
      ports: [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'grpc', port: 7070, targetPort: 7070 },
      ],
    },
  };
}

function addressOf(i: number, pod: number): string {
  const n = i * ENDPOINTS_PER_SERVICE + pod;
  return `10.${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
}

function podOf(i: number, pod: number, ready = true): JsonObject {
  const ip = addressOf(i, pod);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta(`svc-${i}-${pod}`, namespaceOf(i), {
      app: `svc-${i}`,
      version: `v${1 + (pod % 2)}`,
      'security.istio.io/tlsMode': 'istio',
    }),
    spec: {
      nodeName: `node-${pod}`,
      serviceAccountName: `svc-${i}`,
      containers: [{ name: 'app', image: `example.com/svc-${i}:1`, ports: [{ name: 'http', containerPort: 8080 }] }],
    },
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

export function endpointSlice(i: number, endpoints: number): JsonObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: meta(`svc-${i}-slice`, namespaceOf(i), { 'kubernetes.io/service-name': `svc-${i}` }),
    addressType: 'IPv4',
    ports: [
      { name: 'http', port: 8080, protocol: 'TCP' },
      { name: 'grpc', port: 7070, protocol: 'TCP' },
    ],
    endpoints: Array.from({ length: endpoints }, (_, pod) => ({
      addresses: [addressOf(i, pod)],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: `node-${pod}`,
      targetRef: { kind: 'Pod', name: `svc-${i}-${pod}`, namespace: namespaceOf(i) },
    })),
  };
}

export function virtualService(i: number, weight: number): JsonObject {
  const host = `svc-${i}.${namespaceOf(i)}.svc.cluster.local`;
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    metadata: meta(`svc-${i}`, namespaceOf(i)),
    spec: {
      hosts: [host],
      http: [
        { match: [{ uri: { prefix: '/admin' } }], route: [{ destination: { host, subset: 'v1' } }], timeout: '10s' },
        {
          route: [
            { destination: { host, subset: 'v1' }, weight },
            { destination: { host, subset: 'v2' }, weight: 100 - weight },
          ],
          retries: { attempts: 3, perTryTimeout: '2s', retryOn: '5xx' },
        },
      ],
    },
  };
}

/** `visible`: false keeps it to its own namespace. */
export function destinationRule(i: number, connections: number, visible = true): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'DestinationRule',
    metadata: meta(`svc-${i}`, namespaceOf(i)),
    spec: {
      host: `svc-${i}.${namespaceOf(i)}.svc.cluster.local`,
      ...(visible ? {} : { exportTo: ['.'] }),
      trafficPolicy: {
        connectionPool: { tcp: { maxConnections: connections } },
        outlierDetection: { consecutive5xxErrors: 5, interval: '10s' },
      },
      subsets: [
        { name: 'v1', labels: { version: 'v1' } },
        { name: 'v2', labels: { version: 'v2' } },
      ],
    },
  };
}

export const CONNECTION = 'sidecar-of-svc-1';

/** The first pod of a service connects. */
export function sidecarOf(i: number): Unrecorded & Extract<Fact, { readonly kind: 'ProxyConnected' }> {
  const namespace = namespaceOf(i);
  const ip = addressOf(i, 0);
  return {
    source: 'xds',
    kind: 'ProxyConnected',
    connection: `sidecar-of-svc-${i}`,
    protocol: 'delta',
    node: {
      id: `sidecar~${ip}~svc-${i}-0.${namespace}~${namespace}.svc.cluster.local`,
      cluster: `svc-${i}.${namespace}`,
      metadata: {
        NAMESPACE: namespace,
        CLUSTER_ID: 'Kubernetes',
        INSTANCE_IPS: ip,
        ISTIO_VERSION: '1.30.3',
        LABELS: { app: `svc-${i}`, version: 'v1' },
        SERVICE_ACCOUNT: `svc-${i}`,
      },
    },
  };
}
