// Objects that many tests of the model begin with, as short calls.

import type { Json, JsonObject } from '../../../../src/core/base/json.ts';

export interface Meta {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Day of January 2026. */
  readonly day?: number;
}

export function metadata(name: string, meta: Meta = {}): JsonObject {
  const { namespace = 'default', labels = {}, annotations = {}, day = 1 } = meta;
  const creationTimestamp = `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  return { name, namespace, labels, annotations, creationTimestamp };
}

export function service(name: string, spec: JsonObject = {}, meta: Meta = {}): JsonObject {
  const defaults = {
    clusterIP: '10.96.0.1',
    ports: [{ name: 'http', port: 80, targetPort: 8080 }],
    selector: { app: name },
  };
  return { apiVersion: 'v1', kind: 'Service', metadata: metadata(name, meta), spec: { ...defaults, ...spec } };
}

export interface SliceEndpoint {
  readonly ip: string;
  readonly pod?: string;
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

export function slice(
  of: string,
  endpoints: readonly SliceEndpoint[],
  meta: Meta & { readonly name?: string } = {},
): JsonObject {
  const labels = { 'kubernetes.io/service-name': of, ...meta.labels };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: metadata(meta.name ?? `${of}-slice`, { ...meta, labels }),
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: endpoints.map(({ ip, pod, ...conditions }) => ({
      addresses: [ip],
      conditions: conditions as JsonObject,
      ...(pod === undefined ? {} : { targetRef: { kind: 'Pod', name: pod, namespace: meta.namespace ?? 'default' } }),
    })),
  };
}

export function pod(
  name: string,
  ip: string,
  options: Meta & { readonly node?: string; readonly ready?: boolean; readonly account?: string } = {},
): JsonObject {
  const { node = '', ready = true, account = 'default' } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadata(name, options),
    spec: {
      nodeName: node,
      serviceAccountName: account,
      containers: [{ name: 'app', ports: [{ name: 'web', containerPort: 8080 }] }],
    },
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

export function node(name: string, region: string, zone: string): JsonObject {
  const labels = { 'topology.kubernetes.io/region': region, 'topology.kubernetes.io/zone': zone };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } };
}

export function namespace(name: string, meta: Omit<Meta, 'namespace'> = {}): JsonObject {
  const { labels = {}, annotations = {} } = meta;
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, annotations } };
}

function istio(group: string, kind: string, name: string, spec: JsonObject, meta: Meta): JsonObject {
  return { apiVersion: `${group}.istio.io/v1`, kind, metadata: metadata(name, meta), spec };
}

export function serviceEntry(name: string, spec: JsonObject, meta: Meta = {}): JsonObject {
  const ports = [{ number: 80, name: 'http', protocol: 'HTTP' }];
  return istio('networking', 'ServiceEntry', name, { ports, resolution: 'STATIC', ...spec }, meta);
}

export function workloadEntry(name: string, spec: JsonObject, meta: Meta = {}): JsonObject {
  return istio('networking', 'WorkloadEntry', name, spec, meta);
}

export function virtualService(name: string, spec: JsonObject, meta: Meta = {}): JsonObject {
  return istio('networking', 'VirtualService', name, spec, meta);
}

/** An HTTP route to a host. */
export function to(host: string, rest: JsonObject = {}): Json {
  return { route: [{ destination: { host } }], ...rest };
}

export function destinationRule(name: string, host: string, spec: JsonObject = {}, meta: Meta = {}): JsonObject {
  return istio('networking', 'DestinationRule', name, { host, ...spec }, meta);
}

export function sidecar(name: string, spec: JsonObject, meta: Meta = {}): JsonObject {
  return istio('networking', 'Sidecar', name, spec, meta);
}

export function peerAuthentication(name: string, spec: JsonObject, meta: Meta = {}): JsonObject {
  return istio('security', 'PeerAuthentication', name, spec, meta);
}
