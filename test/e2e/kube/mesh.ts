// A mesh in a cluster: services with endpoints and routes, as many as asked for. Everything is visible to everyone.

import type { JsonObject } from '../../../src/core/base/json.ts';

export const SYSTEM = 'istio-system';

export function namespace(name: string, labels: Readonly<Record<string, string>> = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

export function service(namespaceName: string, name: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: namespaceName },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  };
}

export function slice(namespaceName: string, name: string, ...addresses: readonly string[]): JsonObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-x`, namespace: namespaceName, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: addresses.map(address => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  };
}

export function route(namespaceName: string, name: string, mark: string): JsonObject {
  const host = `${name}.${namespaceName}.svc.cluster.local`;
  const headers = { request: { set: { 'x-mark': mark } } };
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    metadata: { name, namespace: namespaceName },
    spec: { hosts: [host], http: [{ route: [{ destination: { host }, headers }] }] },
  };
}

export function configMap(name: string, data: Readonly<Record<string, string>>): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: SYSTEM }, data };
}

/**
 * `services` services with `endpoints` addresses each in `namespaces` namespaces, the first `routes` of them with a
 * VirtualService.
 */
export function mesh(services: number, endpoints: number, routes: number, namespaces: number): readonly JsonObject[] {
  const objects: JsonObject[] = Array.from({ length: namespaces }, (_, i) => namespace(`ns-${i}`));
  for (let i = 0; i < services; i++) {
    const [ns, name] = [`ns-${i % namespaces}`, `svc-${i}`];
    const addresses = Array.from({ length: endpoints }, (_, k) => {
      const n = i * endpoints + k;
      return `172.${16 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
    });
    objects.push(service(ns, name), slice(ns, name, ...addresses));
    if (i < routes) objects.push(route(ns, name, 'base'));
  }
  return objects;
}
