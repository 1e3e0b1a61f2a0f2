// A small mesh for listener tests: objects in, listeners of a proxy out, through the same reducer, tracker and encoder
// as the server.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Resource } from '../../../../../src/core/model/resource.ts';
import { resourceJson } from '../../../../../src/offline/generate.ts';
import { listeners } from '../../../../../src/xds/assemble/listener/resources.ts';
import type {
  Filter,
  FilterChain,
  HttpConnectionManager,
  Listener,
  TcpProxy,
} from '../../../../../src/xds/proto/types.gen.ts';
import { LDS } from '../../../../../src/xds/session/types.ts';
import { httpService, Scene, service } from '../route/scene.ts';

export class ListenerScene extends Scene {
  listeners(connection: string): readonly Resource<Listener>[] {
    const proxy = this.state.proxies.get(connection);
    if (proxy === undefined) throw new Error(`no proxy ${connection}`);
    const all = this.tracker.get(this.state, proxy, listeners, '');
    // What cannot be encoded cannot be sent.
    for (const listener of all) resourceJson(LDS, listener);
    return all;
  }

  names(connection: string): readonly string[] {
    return this.listeners(connection).map(listener => listener.name);
  }

  listenerResource(connection: string, name: string): Resource<Listener> {
    const found = this.listeners(connection).find(listener => listener.name === name);
    if (found === undefined) throw new Error(`no listener ${name} among ${this.names(connection).join(', ')}`);
    return found;
  }

  listener(connection: string, name: string): Listener {
    return this.listenerResource(connection, name).message;
  }

  chains(connection: string, name: string): readonly FilterChain[] {
    return this.listener(connection, name).filterChains ?? [];
  }

  /** As a client would decode it. */
  json(connection: string): string {
    return JSON.stringify(this.listeners(connection).map(listener => resourceJson(LDS, listener)));
  }
}

function pod(name: string, namespace: string, ip: string, labels: JsonObject): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { containers: [{ name: 'app' }] },
    status: { podIP: ip, podIPs: [{ ip }], phase: 'Running' },
  };
}

/** The sidecar of the pod `name` at `ip`, as its agent would introduce it. */
export function podNode(name: string, namespace: string, ip: string, metadata: JsonObject = {}): JsonObject {
  return {
    id: `sidecar~${ip}~${name}.${namespace}~${namespace}.svc.cluster.local`,
    cluster: `${name}.${namespace}`,
    metadata: { NAME: name, NAMESPACE: namespace, CLUSTER_ID: 'Kubernetes', INSTANCE_IPS: ip, ...metadata },
  };
}

export const APP_IP = '10.1.0.7';

/** A workload `app` that serves `ports` (each `{name, port, targetPort?}`), with its sidecar connected as `app`. */
export function workloadScene(
  ports: readonly JsonObject[],
  more: readonly JsonObject[] = [],
  options: ConstructorParameters<typeof Scene>[1] = {},
  metadata: JsonObject = {},
): ListenerScene {
  const scene = new ListenerScene(
    [
      service('app', 'prod', { clusterIP: '10.96.0.7', selector: { app: 'app' }, ports }),
      pod('app', 'prod', APP_IP, { app: 'app' }),
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'app-1', namespace: 'prod', labels: { 'kubernetes.io/service-name': 'app' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: [APP_IP], targetRef: { kind: 'Pod', name: 'app', namespace: 'prod' } }],
        ports: ports.map(({ name, port, targetPort }) => ({ name, port: targetPort ?? port })),
      },
      ...more,
    ],
    options,
  );
  scene.connect('app', podNode('app', 'prod', APP_IP, { LABELS: { app: 'app' }, ...metadata }));
  return scene;
}

/** A scene with these objects and a sidecar `client` in `prod` that serves nothing. */
export function clientScene(
  objects: readonly JsonObject[],
  options: ConstructorParameters<typeof Scene>[1] = {},
  metadata: JsonObject = {},
): ListenerScene {
  const scene = new ListenerScene(objects, options);
  scene.connect('client', podNode('client', 'prod', '10.1.0.1', { LABELS: { app: 'client' }, ...metadata }));
  return scene;
}

export function filterNames(chain: FilterChain | undefined): readonly string[] {
  return (chain?.filters ?? []).map(filter => filter.name ?? '');
}

export function hcm(chain: FilterChain | undefined): HttpConnectionManager {
  return config(chain, 'envoy.filters.network.http_connection_manager') as HttpConnectionManager;
}

export function tcpProxy(chain: FilterChain | undefined): TcpProxy {
  return config(chain, 'envoy.filters.network.tcp_proxy') as TcpProxy;
}

function config(chain: FilterChain | undefined, name: string): NonNullable<Filter['typedConfig']> {
  const found = chain?.filters?.find(filter => filter.name === name)?.typedConfig;
  if (found === undefined) throw new Error(`no ${name} among ${filterNames(chain).join(', ')}`);
  return found;
}

export { httpService, service };
