// The services that a proxy gets clusters for, if gateways get only those that they use.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { servicesWithClusters } from '../../../../../src/core/select/gateway/gateway-services.ts';
import { httpService, istio, routerNode, Scene, sidecarNode } from '../../../xds/generate/route/scene.ts';

const query: Query<'', readonly string[]> = {
  name: 'test/servicesWithClusters',
  run: reader => servicesWithClusters(reader).map(({ hostname }) => hostname.split('.')[0] ?? ''),
};
const FILTER = { PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: 'true' };
const SCOPE = { PILOT_SCOPE_GATEWAY_TO_NAMESPACE: 'true' };
const host = (name: string): string => `${name}.edge.svc.cluster.local`;

const services = ['a', 'b', 'c', 'd'].map((name, i) => httpService(name, 'edge', 80, `10.96.0.${i + 1}`));
const gateway = istio('Gateway', 'edge', 'gw', {
  selector: { istio: 'ingressgateway' },
  servers: [{ port: { number: 80, name: 'p', protocol: 'HTTP' }, hosts: ['*'] }],
});
const routeTo = (name: string, to: string, gateways: readonly string[], namespace = 'edge'): JsonObject =>
  istio('VirtualService', namespace, name, {
    hosts: [`${name}.example.com`],
    gateways,
    http: [{ route: [{ destination: { host: host(to) } }] }],
  });

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly mesh?: JsonObject;
  readonly node?: JsonObject;
}

function names(objects: readonly JsonObject[], { env = FILTER, mesh = {}, node = routerNode('edge') }: Options = {}) {
  const scene = new Scene([...services, gateway, ...objects], { env, mesh: { extensionProviders: [], ...mesh } });
  scene.connect('gw', node);
  return scene.tracker.get(scene.state, scene.state.proxies.get('gw')!, query, '');
}

describe('a gateway has clusters of', () => {
  it('all services, unless it is to have only what it uses', () => {
    expect(names([], { env: {} })).toEqual(['a', 'b', 'c', 'd']);
    expect(names([])).toEqual([]);
  });

  it('the destinations of VirtualServices of its Gateways', () => {
    const objects = [routeTo('v', 'b', ['gw']), routeTo('w', 'c', ['other']), routeTo('m', 'd', ['mesh'])];
    expect(names(objects)).toEqual(['b']);
  });

  it('the destinations of rules for clients of other namespaces, unless Gateways are scoped', () => {
    const rule = (sourceNamespace: string, to: string): JsonObject => ({
      match: [{ sourceNamespace }],
      route: [{ destination: { host: host(to) } }],
    });
    const http = [rule('edge', 'b'), rule('far', 'c')];
    const objects = [istio('VirtualService', 'far', 'v', { hosts: ['v.example.com'], gateways: ['edge/gw'], http })];
    expect(names(objects)).toEqual(['b', 'c']);
    expect(names(objects, { env: { ...FILTER, ...SCOPE } })).toEqual(['b']);
  });

  it.each<[string, JsonObject]>([
    ['an HTTP authorizer', { envoyExtAuthzHttp: { service: host('b'), port: 80 } }],
    ['a gRPC authorizer', { envoyExtAuthzGrpc: { service: host('b'), port: 80 } }],
    ['a Zipkin', { zipkin: { service: host('b'), port: 80 } }],
    ['a Datadog agent', { datadog: { service: host('b'), port: 80 } }],
    ['a SkyWalking', { skywalking: { service: host('b'), port: 80 } }],
    ['an OpenTelemetry collector', { opentelemetry: { service: host('b'), port: 80 } }],
    ['a log of requests', { envoyHttpAls: { service: host('b'), port: 80 } }],
    ['a log of connections', { envoyTcpAls: { service: host('b'), port: 80 } }],
    ['a log of OpenTelemetry', { envoyOtelAls: { service: host('b'), port: 80 } }],
    ['a service of secrets', { sds: { name: 'p', service: host('b'), port: 80 } }],
    ['a service in its namespace', { zipkin: { service: `edge/${host('b')}`, port: 80 } }],
  ])('the service of %s among the providers of the mesh', (_what, provider) => {
    const file = { name: 'file', envoyFileAccessLog: { path: '/dev/stdout' } };
    expect(names([], { mesh: { extensionProviders: [file, { name: 'p', ...provider }] } })).toEqual(['b']);
  });
});

it('a sidecar has clusters of all services, whatever gateways have', () => {
  expect(names([], { node: sidecarNode('edge') })).toEqual(['a', 'b', 'c', 'd']);
});
