// A small mesh for route tests: objects in, route configurations of a proxy out, through the same reducer and tracker
// as the server.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Resource } from '../../../../../src/core/model/resource.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import type { State } from '../../../../../src/core/state.ts';
import { foldFacts, proxyFacts } from '../../../../../src/offline/generate.ts';
import { routeNamed } from '../../../../../src/xds/assemble/route/resources.ts';
import type { Route, RouteConfiguration, VirtualHost } from '../../../../../src/xds/proto/types.gen.ts';

const SOURCE = 'file/Kubernetes';

export function service(name: string, namespace: string, spec: JsonObject, extra: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace, ...extra }, spec };
}

/** A service with one HTTP port. */
export function httpService(name: string, namespace: string, port: number, clusterIP: string): JsonObject {
  return service(name, namespace, { clusterIP, ports: [{ name: 'http', port }], selector: { app: name } });
}

export function istio(
  kind: string,
  namespace: string,
  name: string,
  spec: JsonObject,
  meta: JsonObject = {},
): JsonObject {
  return { apiVersion: 'networking.istio.io/v1', kind, metadata: { name, namespace, ...meta }, spec };
}

export function sidecarNode(namespace: string, metadata: JsonObject = {}): JsonObject {
  return {
    id: `sidecar~10.1.0.1~client.${namespace}~${namespace}.svc.cluster.local`,
    metadata: { NAMESPACE: namespace, CLUSTER_ID: 'Kubernetes', ...metadata },
  };
}

export function routerNode(namespace: string, labels: JsonObject = { istio: 'ingressgateway' }): JsonObject {
  return {
    id: `router~10.1.0.9~gw.${namespace}~${namespace}.svc.cluster.local`,
    metadata: { NAMESPACE: namespace, CLUSTER_ID: 'Kubernetes', LABELS: labels },
  };
}

export interface SceneOptions {
  readonly mesh?: JsonObject;
  readonly networks?: JsonObject;
  readonly env?: Readonly<Record<string, string>>;
}

export class Scene {
  readonly tracker = new Tracker();
  state: State;

  constructor(objects: readonly JsonObject[], options: SceneOptions = {}) {
    const { mesh, networks, env = {} } = options;
    this.state = foldFacts([
      { source: 'runtime', kind: 'Engine', settings: { env } },
      ...(mesh === undefined ? [] : [{ source: SOURCE, kind: 'MeshConfig' as const, value: mesh }]),
      ...(networks === undefined ? [] : [{ source: SOURCE, kind: 'MeshNetworks' as const, value: networks }]),
    ]).state;
    for (const object of objects) this.put(object);
  }

  /** Throws if the object is refused: a test must not pass because its input was dropped. */
  put(object: JsonObject): void {
    const { state, effects } = foldFacts([{ source: SOURCE, kind: 'Add', object }], this.state);
    const refused = effects.filter(effect => effect.kind === 'Verdict' && !effect.accepted);
    if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
    this.state = state;
  }

  /** Connection names are the callers'; connecting again replaces the node. */
  connect(connection: string, node: JsonObject): void {
    this.state = foldFacts(proxyFacts(connection, node), this.state).state;
  }

  resource(connection: string, name: string): Resource<RouteConfiguration> {
    const proxy = this.state.proxies.get(connection);
    if (proxy === undefined) throw new Error(`no proxy ${connection}`);
    const found = this.tracker.get(this.state, proxy, routeNamed, name);
    if (found === undefined) throw new Error(`no answer for ${name}`);
    return found;
  }

  route(connection: string, name: string): RouteConfiguration {
    return this.resource(connection, name).message;
  }

  host(connection: string, route: string, name: string): VirtualHost {
    const hosts = this.route(connection, route).virtualHosts ?? [];
    const found = hosts.find(host => host.name === name);
    if (found === undefined)
      throw new Error(`no virtual host ${name} among ${hosts.map(host => host.name).join(', ')}`);
    return found;
  }

  /** The routes of the virtual host `<host>:<port>` of a sidecar's route configuration. */
  routes(connection: string, route: string, name: string): readonly Route[] {
    return this.host(connection, route, name).routes ?? [];
  }
}

/**
 * A scene with one service `shop` on port 8080, one VirtualService for it with these http rules, and the sidecar
 * `client` beside.
 */
export function shopScene(
  http: readonly JsonObject[],
  more: readonly JsonObject[] = [],
  options: SceneOptions = {},
): Scene {
  const scene = new Scene(
    [
      httpService('shop', 'prod', 8080, '10.96.0.1'),
      istio('VirtualService', 'prod', 'shop', { hosts: ['shop'], http }),
      ...more,
    ],
    options,
  );
  scene.connect('client', sidecarNode('prod'));
  return scene;
}

export const SHOP = 'shop.prod.svc.cluster.local:8080';

/** The routes that these rules give the virtual host of `shop`. */
export function shopRoutes(...http: readonly JsonObject[]): readonly Route[] {
  return shopScene(http).routes('client', '8080', SHOP);
}
