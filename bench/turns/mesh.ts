// The small mesh that the cases are added to, and the proxies that are connected: one of each sort.

import type { JsonObject } from '../../src/core/base/json.ts';

export type Asks = 'clusters' | 'listeners' | 'names' | 'addresses' | 'authorizations';

export interface ProxyCase {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: JsonObject;
  readonly delta: boolean;
  /** What it asks for by itself; endpoints and routes follow from clusters and listeners. */
  readonly asks: readonly Asks[];
}

function metadataOf(labels: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    NAMESPACE: 'a',
    CLUSTER_ID: 'Kubernetes',
    ISTIO_VERSION: '1.30.3',
    LABELS: labels,
    MESH_ID: 'cluster.local',
    SERVICE_ACCOUNT: 'p',
    WORKLOAD_NAME: 'p',
    DNS_CAPTURE: 'true',
    ...more,
  };
}

const MANAGED = { 'gateway.istio.io/managed': 'istio.io-mesh-controller' };

export const proxyCases: readonly ProxyCase[] = [
  {
    id: 'sidecar~10.1.1.1~p.a~a.svc.cluster.local',
    cluster: 'p.a',
    metadata: metadataOf({ app: 'p', 'service.istio.io/canonical-name': 'p' }),
    delta: true,
    asks: ['clusters', 'listeners', 'names'],
  },
  {
    id: 'sidecar~10.1.1.2~q.a~a.svc.cluster.local',
    cluster: 'q.a',
    metadata: metadataOf({ app: 'q' }),
    delta: false,
    asks: ['clusters', 'listeners', 'names'],
  },
  {
    id: 'router~10.1.1.3~gw.a~a.svc.cluster.local',
    cluster: 'gw.a',
    metadata: metadataOf({ istio: 'ingressgateway', app: 'gw', 'gateway.networking.k8s.io/gateway-name': 'k' }),
    delta: true,
    asks: ['clusters', 'listeners'],
  },
  {
    id: 'waypoint~10.1.1.4~w.a~a.svc.cluster.local',
    cluster: 'w.a',
    metadata: metadataOf({ 'gateway.networking.k8s.io/gateway-name': 'w', ...MANAGED }),
    delta: true,
    asks: ['clusters', 'listeners'],
  },
  {
    id: 'ztunnel~10.1.1.5~z.istio-system~istio-system.svc.cluster.local',
    cluster: 'z',
    metadata: metadataOf({ app: 'ztunnel' }, { NAMESPACE: 'istio-system', NODE_NAME: 'n1' }),
    delta: true,
    asks: ['addresses', 'authorizations'],
  },
];

/** What a server needs to serve them all. */
export const SERVER_ENV: NodeJS.ProcessEnv = {
  PILOT_ENABLE_AMBIENT: 'true',
  PILOT_ENABLE_ALPHA_GATEWAY_API: 'true',
  ENABLE_MCS_SERVICE_DISCOVERY: 'true',
  ENABLE_MCS_HOST: 'true',
};

function object(apiVersion: string, kind: string, name: string, members: JsonObject, labels?: JsonObject): JsonObject {
  const metadata = { name, namespace: 'a', ...(labels === undefined ? {} : { labels }) };
  return { apiVersion, kind, metadata, ...members };
}

function pod(name: string, ip: string): JsonObject {
  return object(
    'v1',
    'Pod',
    name,
    {
      spec: { nodeName: 'n1', serviceAccountName: name, containers: [{ name: 'c', image: 'x' }] },
      status: {
        phase: 'Running',
        podIP: ip,
        podIPs: [{ ip }],
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    },
    { app: name },
  );
}

const GATEWAY_API = 'gateway.networking.k8s.io/v1';

export const baseMesh: readonly JsonObject[] = [
  object('v1', 'Service', 's', {
    spec: {
      clusterIP: '10.0.0.1',
      selector: { app: 'p' },
      ports: [
        { name: 'http', port: 80 },
        { name: 'tcp', port: 90 },
      ],
    },
  }),
  pod('p', '10.1.1.1'),
  pod('q', '10.1.1.2'),
  object(
    'discovery.k8s.io/v1',
    'EndpointSlice',
    's-1',
    {
      addressType: 'IPv4',
      ports: [
        { name: 'http', port: 8080 },
        { name: 'tcp', port: 9090 },
      ],
      endpoints: [
        {
          addresses: ['10.1.1.1'],
          conditions: { ready: true },
          targetRef: { kind: 'Pod', name: 'p', namespace: 'a' },
        },
      ],
    },
    { 'kubernetes.io/service-name': 's' },
  ),
  object('networking.istio.io/v1', 'Gateway', 'gw', {
    spec: {
      selector: { istio: 'ingressgateway' },
      servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
    },
  }),
  object(GATEWAY_API, 'Gateway', 'k', {
    spec: {
      gatewayClassName: 'istio',
      listeners: [
        { name: 'http', port: 8000, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } },
        { name: 'tcp', port: 9000, protocol: 'TCP' },
        { name: 'tls', port: 9443, protocol: 'TLS', tls: { mode: 'Passthrough' } },
      ],
    },
  }),
  object(
    'v1',
    'Service',
    'k-istio',
    {
      spec: {
        clusterIP: '10.0.0.98',
        selector: { 'gateway.networking.k8s.io/gateway-name': 'k' },
        ports: [
          { name: 'http', port: 8000 },
          { name: 'tcp', port: 9000 },
          { name: 'tls', port: 9443 },
        ],
      },
    },
    { 'gateway.networking.k8s.io/gateway-name': 'k' },
  ),
  object(
    GATEWAY_API,
    'Gateway',
    'w',
    { spec: { gatewayClassName: 'istio-waypoint', listeners: [{ name: 'mesh', port: 15_008, protocol: 'HBONE' }] } },
    { 'istio.io/waypoint-for': 'all' },
  ),
  {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'a', labels: { 'istio.io/use-waypoint': 'w' } },
  },
  object(
    'v1',
    'Service',
    'w',
    {
      spec: {
        clusterIP: '10.0.0.99',
        selector: { 'gateway.networking.k8s.io/gateway-name': 'w' },
        ports: [{ name: 'mesh', port: 15_008 }],
      },
    },
    { 'gateway.networking.k8s.io/gateway-name': 'w', ...MANAGED },
  ),
];

/** The change elsewhere: of what no case speaks. `round` makes each differ from the one before. */
export function otherChange(round: number): JsonObject {
  return object('networking.istio.io/v1', 'VirtualService', 'other', {
    spec: {
      hosts: ['s'],
      http: [
        {
          headers: { request: { set: { x: String(round) } } },
          route: [{ destination: { host: 's', port: { number: 80 } } }],
        },
      ],
    },
  });
}

/** A valid input, of which others may take a multiple: half Services, half VirtualServices for them. */
export function plainObjects(bytes: number): readonly JsonObject[] {
  const pair = (i: number): readonly JsonObject[] => [
    object('v1', 'Service', `plain-${i}`, {
      spec: { clusterIP: `10.3.${(i >> 8) & 255}.${i & 255}`, ports: [{ name: 'http', port: 80 }] },
    }),
    object('networking.istio.io/v1', 'VirtualService', `plain-${i}`, {
      spec: { hosts: [`plain-${i}`], http: [{ route: [{ destination: { host: `plain-${i}` } }] }] },
    }),
  ];
  const each = pair(1_000).reduce((sum, one) => sum + JSON.stringify(one).length, 0);
  return Array.from({ length: Math.max(1, Math.round(bytes / each)) }, (_, i) => pair(i)).flat();
}

/** One document a line. */
export function yamlOf(objects: readonly JsonObject[]): string {
  return objects.map(one => `---\n${JSON.stringify(one)}\n`).join('');
}
