// Clusters of a proxy in a small mesh, by name.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Resource } from '../../../../../src/core/model/resource.ts';
import { clusters } from '../../../../../src/xds/assemble/cluster/resources.ts';
import type { Cluster, UpstreamTlsContext } from '../../../../../src/xds/proto/types.gen.ts';
import { istio, type Scene, service } from '../route/scene.ts';

export type ClustersByName = ReadonlyMap<string, Resource<Cluster>>;

export function clustersOf(scene: Scene, connection: string): ClustersByName {
  const proxy = scene.state.proxies.get(connection);
  if (proxy === undefined) throw new Error(`no proxy ${connection}`);
  const all = scene.tracker.get(scene.state, proxy, clusters, '');
  return new Map(all.map(resource => [resource.name, resource]));
}

export function cluster(scene: Scene, connection: string, name: string): Cluster {
  const found = clustersOf(scene, connection).get(name);
  if (found === undefined) throw new Error(`${connection} has no cluster ${name}`);
  return found.message;
}

/** A service of the mesh with a ready pod behind it, which has a sidecar. */
export function workload(name: string, namespace: string, ip: string, ports: readonly JsonObject[]): JsonObject[] {
  const labels = { app: name, 'security.istio.io/tlsMode': 'istio' };
  return [
    service(name, namespace, {
      clusterIP: `10.9.${ip.split('.').slice(-2).join('.')}`,
      ports,
      selector: { app: name },
    }),
    pod(name, namespace, ip, labels),
    slice(name, namespace, ip, ports),
  ];
}

export function pod(name: string, namespace: string, ip: string, labels: JsonObject): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { serviceAccountName: name, nodeName: 'node1' },
    status: { podIP: ip, podIPs: [{ ip }], phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

export function slice(name: string, namespace: string, ip: string, ports: readonly JsonObject[]): JsonObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-1`, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [ip], conditions: { ready: true }, targetRef: { kind: 'Pod', name, namespace } }],
    ports: ports.map(({ name: portName, port }) => ({ name: portName, port, protocol: 'TCP' })),
  };
}

export function rule(host: string, spec: JsonObject, namespace = 'default'): JsonObject {
  return istio('DestinationRule', namespace, `rule-${host.replaceAll(/[^a-z0-9]/g, '-')}`, { host, ...spec });
}

/** The TLS context of a cluster that always speaks TLS. */
export function tlsContext(message: Cluster): UpstreamTlsContext | undefined {
  return message.transportSocket?.typedConfig as UpstreamTlsContext | undefined;
}

export const HTTP_PORT: JsonObject = { name: 'http', port: 80 };
export const httpOptions = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
