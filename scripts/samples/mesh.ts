// The mesh that the recorded samples are about, as its objects would come out of a cluster: services, pods, slices, and who manages what.

import type { JsonObject } from '../../src/core/base/json.ts';

export const NAMESPACE = 'shop';
const CREATED = '2026-03-02T07:00:00Z';

/** metadata as the API server keeps it: who set the fields last, and when. */
function meta(name: string, manager: string, changed: string, more: JsonObject = {}): JsonObject {
  return {
    name,
    namespace: NAMESPACE,
    creationTimestamp: CREATED,
    managedFields: [{ manager, operation: 'Update', time: changed }],
    ...more,
  };
}

export function namespace(name: string): JsonObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } };
}

export function service(
  name: string,
  number: number,
  changed = CREATED,
  annotations?: JsonObject,
  manager = 'helm',
): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: meta(name, manager, changed, {
      labels: { app: name },
      ...(annotations === undefined ? {} : { annotations }),
    }),
    spec: {
      type: 'ClusterIP',
      clusterIP: `10.96.0.${number}`,
      selector: { app: name },
      ports: [{ name: 'http', port: 9080, targetPort: 9080 }],
    },
  };
}

export function pod(app: string, version: string, ip: string, ready = true, changed = CREATED): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: meta(`${app}-${version}`, 'kubelet', changed, { labels: { app, version } }),
    spec: {
      nodeName: 'node-1',
      serviceAccountName: app,
      containers: [{ name: app, image: `shop/${app}:${version}`, ports: [{ name: 'http', containerPort: 9080 }] }],
    },
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

export interface Backend {
  readonly version: string;
  readonly ip: string;
  readonly ready?: boolean;
}

export function slice(app: string, backends: readonly Backend[], changed = CREATED): JsonObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: meta(`${app}-1`, 'endpointslice-controller', changed, { labels: { 'kubernetes.io/service-name': app } }),
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 9080, protocol: 'TCP' }],
    endpoints: backends.map(({ version, ip, ready = true }) => ({
      addresses: [ip],
      conditions: { ready, serving: ready, terminating: false },
      nodeName: 'node-1',
      targetRef: { kind: 'Pod', name: `${app}-${version}`, namespace: NAMESPACE },
    })),
  };
}

export function destinationRule(
  host: string,
  versions: readonly string[],
  manager: string,
  changed = CREATED,
): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'DestinationRule',
    metadata: meta(host, manager, changed),
    spec: { host, subsets: versions.map(version => ({ name: version, labels: { version } })) },
  };
}

/** Weights by subset, in order. */
export function virtualService(
  host: string,
  weights: Readonly<Record<string, number>>,
  manager: string,
  changed = CREATED,
): JsonObject {
  const route = Object.entries(weights).map(([subset, weight]) => ({ destination: { host, subset }, weight }));
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    metadata: meta(host, manager, changed),
    spec: { hosts: [host], http: [{ name: 'by-version', route }] },
  };
}

/** The same with a timeout for all its routes. */
export function withTimeout(route: JsonObject, timeout: string): JsonObject {
  const { hosts, http } = route.spec as { readonly hosts: readonly string[]; readonly http: readonly JsonObject[] };
  return { ...route, spec: { hosts, http: http.map(one => ({ ...one, timeout })) } };
}

export function gateway(ports: readonly number[], manager: string, changed = CREATED): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'Gateway',
    metadata: meta('front-door', manager, changed),
    spec: {
      selector: { istio: 'ingressgateway' },
      servers: ports.map(number => ({
        port: { number, name: `http-${number}`, protocol: 'HTTP' },
        hosts: ['shop.example.com'],
      })),
    },
  };
}

export const entrance: JsonObject = {
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: meta('entrance', 'argocd', CREATED),
  spec: {
    hosts: ['shop.example.com'],
    gateways: ['front-door'],
    http: [{ route: [{ destination: { host: 'productpage', port: { number: 9080 } } }] }],
  },
};

export function sidecarNode(app: string, version: string, ip: string): JsonObject {
  return {
    id: `sidecar~${ip}~${app}-${version}.${NAMESPACE}~${NAMESPACE}.svc.cluster.local`,
    cluster: `${app}.${NAMESPACE}`,
    metadata: {
      NAMESPACE,
      CLUSTER_ID: 'Kubernetes',
      INSTANCE_IPS: ip,
      ISTIO_VERSION: '1.30.3',
      SERVICE_ACCOUNT: app,
      LABELS: { app, version },
    },
  };
}

export function gatewayNode(ip: string): JsonObject {
  return {
    id: `router~${ip}~ingressgateway.istio-system~istio-system.svc.cluster.local`,
    cluster: 'ingressgateway.istio-system',
    metadata: {
      NAMESPACE: 'istio-system',
      CLUSTER_ID: 'Kubernetes',
      INSTANCE_IPS: ip,
      ISTIO_VERSION: '1.30.3',
      SERVICE_ACCOUNT: 'ingressgateway',
      LABELS: { istio: 'ingressgateway' },
    },
  };
}
