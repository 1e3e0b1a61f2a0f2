// A small mesh with a waypoint, as objects, and what its proxies are sent.

import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { ProxyRecord } from '../../../../src/core/model/proxy.ts';
import type { State } from '../../../../src/core/state.ts';
import { clusters } from '../../../../src/xds/assemble/cluster/resources.ts';
import { endpointsOf } from '../../../../src/xds/assemble/endpoint/resources.ts';
import { listeners } from '../../../../src/xds/assemble/listener/resources.ts';
import type { Cluster, FilterChain, LbEndpoint, Listener } from '../../../../src/xds/proto/types.gen.ts';
import { namespace, waypoint } from '../../core/select/ambient/fixtures.ts';
import { ask, proxyOf } from '../../world.ts';

const CAPTURED = { 'ambient.istio.io/redirection': 'enabled' };

export function service(name: string, ip: string, ports: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  const { labels = {}, annotations = {}, selector = { app: name } } = more;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop', labels, annotations },
    spec: { clusterIP: ip, clusterIPs: [ip], ports, selector },
  };
}

export function port(name: string, number: number): JsonObject {
  return { name, port: number, targetPort: 8080, protocol: 'TCP' };
}

export function pod(app: string, ip: string, more: { labels?: JsonObject; captured?: boolean } = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${app}-1`,
      namespace: 'shop',
      labels: { app, ...more.labels },
      annotations: more.captured === false ? {} : CAPTURED,
    },
    spec: { containers: [], serviceAccountName: app },
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

export function slice(app: string, ip: string, ports: readonly JsonObject[]): JsonObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${app}-1`, namespace: 'shop', labels: { 'kubernetes.io/service-name': app } },
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: [ip],
        conditions: { ready: true },
        targetRef: { kind: 'Pod', name: `${app}-1`, namespace: 'shop' },
      },
    ],
    ports,
  };
}

const GATEWAY = 'gateway.networking.k8s.io/gateway-name';
const MANAGED = 'gateway.istio.io/managed';

/** Namespace `shop`, whose services use the waypoint `way`: `web` with a port of each sort. */
export function shop(
  more: { readonly gateway?: JsonObject; readonly webLabels?: JsonObject; readonly webAnnotations?: JsonObject } = {},
): JsonObject[] {
  const managed = { [MANAGED]: 'istio.io-mesh-controller', [GATEWAY]: 'way' };
  const ports = [port('http', 80), port('tcp', 9000), port('other', 7000)];
  return [
    namespace('shop', { 'istio.io/use-waypoint': 'way' }),
    more.gateway ?? waypoint('way', { namespace: 'shop' }),
    service('way', '10.0.0.1', [port('mesh', 15008)], { labels: managed, selector: managed }),
    pod('way', '10.1.0.1', { labels: { ...managed, 'security.istio.io/tlsMode': 'istio' }, captured: false }),
    slice('way', '10.1.0.1', [{ name: 'mesh', port: 15008, protocol: 'TCP' }]),
    service('web', '10.0.0.2', ports, { labels: more.webLabels ?? {}, annotations: more.webAnnotations ?? {} }),
    pod('web', '10.1.0.2'),
    slice(
      'web',
      '10.1.0.2',
      ports.map(({ name = '' }) => ({ name, port: 8080, protocol: 'TCP' })),
    ),
  ];
}

function proxy(type: string, app: string, ip: string, labels: JsonObject, more: JsonObject): ProxyRecord {
  return proxyOf({
    id: `${type}~${ip}~${app}-1.shop~shop.svc.cluster.local`,
    metadata: { NAMESPACE: 'shop', CLUSTER_ID: 'Kubernetes', LABELS: labels, INSTANCE_IPS: ip, ...more },
  });
}

export function waypointProxy(more: JsonObject = {}): ProxyRecord {
  return proxy('waypoint', 'way', '10.1.0.1', { [GATEWAY]: 'way', [MANAGED]: 'istio.io-mesh-controller' }, more);
}

export function sidecarProxy(more: JsonObject = {}): ProxyRecord {
  return proxy('sidecar', 'client', '10.1.0.9', { app: 'client' }, more);
}

export function gatewayProxy(): ProxyRecord {
  return proxy('router', 'gate', '10.1.0.8', { istio: 'ingressgateway' }, {});
}

export function clustersOf(state: State, of: ProxyRecord): ReadonlyMap<string, Cluster> {
  return new Map(ask(state, clusters, '', of).map(({ name, message }) => [name, message]));
}

export function listenersOf(state: State, of: ProxyRecord): ReadonlyMap<string, Listener> {
  return new Map(ask(state, listeners, '', of).map(({ name, message }) => [name, message]));
}

export function chainsOf(state: State, of: ProxyRecord): ReadonlyMap<string, FilterChain> {
  const chains = listenersOf(state, of).get('main_internal')?.filterChains ?? [];
  return new Map(chains.map(chain => [chain.name ?? '', chain]));
}

export function endpointsIn(state: State, of: ProxyRecord, cluster: string): readonly LbEndpoint[] {
  const found = ask(state, endpointsOf, cluster, of)?.message.endpoints ?? [];
  return found.flatMap(({ lbEndpoints = [] }) => lbEndpoints);
}
