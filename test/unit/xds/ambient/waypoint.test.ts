import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { ambientWorld, namespace, waypoint } from '../../core/select/ambient/fixtures.ts';
import { world } from '../../world.ts';
import {
  chainsOf,
  clustersOf,
  endpointsIn,
  gatewayProxy,
  listenersOf,
  pod,
  port,
  service,
  shop,
  waypointProxy,
} from './mesh.ts';

const way = waypointProxy();
const text = (value: unknown): string => JSON.stringify(value);
const versions: Readonly<Record<string, string>> = {
  AuthorizationPolicy: 'security.istio.io/v1',
  EnvoyFilter: 'networking.istio.io/v1alpha3',
};
const istio = (kind: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: versions[kind] ?? 'networking.istio.io/v1',
  kind,
  metadata: { name, namespace: 'shop' },
  spec,
});
const elsewhere = (name: string): JsonObject[] => [
  namespace('other'),
  { ...service(name, '10.0.0.7', [port('http', 80)]), metadata: { name, namespace: 'other' } },
];

describe('a waypoint', () => {
  it('has clusters and chains for each port of the services that use it, by what the port carries', () => {
    const state = ambientWorld(shop());
    const vips = [...clustersOf(state, way).keys()].filter(name => name.startsWith('inbound-vip'));
    const host = 'web.shop.svc.cluster.local';
    const expected = [`7000|http|${host}`, `7000|tcp|${host}`, `80|http|${host}`, `9000|tcp|${host}`];
    expect(vips).toEqual(expected.map(rest => `inbound-vip|${rest}`));
    expect([...chainsOf(state, way).keys()].sort()).toEqual([...vips, 'direct-http', 'direct-tcp'].sort());
  });

  it('tells HTTP from TCP on ports that say neither, and does not inspect the others', () => {
    const main = listenersOf(ambientWorld(shop()), way).get('main_internal');
    const inspector = main?.listenerFilters?.find(({ name }) => name === 'envoy.filters.listener.http_inspector');
    expect(inspector?.filterDisabled).toEqual({
      orMatch: {
        rules: [80, 9000].map(start => ({ destinationPortRange: { start, end: start + 1 } })),
      },
    });
    const matcher = text(main?.filterChainMatcher);
    expect(matcher).toContain('"10.0.0.2"');
    expect(matcher).toContain(`"'h2c'"`);
    expect(matcher).not.toContain('direct-http');
  });

  it('takes connections to workloads where it is one for workloads', () => {
    const gateway = waypoint('way', { namespace: 'shop', labels: { 'istio.io/waypoint-for': 'all' } });
    const main = listenersOf(ambientWorld(shop({ gateway })), way).get('main_internal');
    expect(text(main?.filterChainMatcher)).toContain('"10.1.0.2"');
    expect(text(main?.filterChainMatcher)).toContain('direct-http');
    expect(text(main?.listenerFilters)).not.toContain('filterDisabled');
  });

  it('takes no connections to instances of waypoints', () => {
    const gateway = waypoint('way', { namespace: 'shop', labels: { 'istio.io/waypoint-for': 'all' } });
    const managed = { 'gateway.istio.io/managed': 'istio.io-mesh-controller' };
    const objects = [...shop({ gateway }), pod('young', '10.1.0.5', { labels: managed })];
    const matcher = text(listenersOf(ambientWorld(objects), way).get('main_internal')?.filterChainMatcher);
    expect(matcher).not.toContain('"10.1.0.5"');
    expect(matcher).not.toContain('"10.1.0.1"');
  });

  it('has the listeners that EnvoyFilters add for what is sent and for what arrives', () => {
    const added = (context: string) => ({
      applyTo: 'LISTENER',
      match: { context },
      patch: { operation: 'ADD', value: { name: `added-${context}` } },
    });
    const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'way' }];
    const configPatches = ['SIDECAR_INBOUND', 'SIDECAR_OUTBOUND', 'GATEWAY'].map(added);
    const state = ambientWorld([...shop(), istio('EnvoyFilter', 'added', { targetRefs, configPatches })]);
    const names = [...listenersOf(state, way).keys()].filter(name => name.startsWith('added'));
    expect(names).toEqual(['added-SIDECAR_INBOUND', 'added-SIDECAR_OUTBOUND']);
  });

  it('takes none to endpoints of a ServiceEntry whose host is that of an older one', () => {
    const gateway = waypoint('way', { namespace: 'shop', labels: { 'istio.io/waypoint-for': 'all' } });
    const entries = ['10.9.0.1', '10.9.0.2'].map((address, i) => ({
      ...istio('ServiceEntry', `e${i}`, {
        hosts: ['a.com'],
        ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
        resolution: 'STATIC',
        endpoints: [{ address }],
      }),
      metadata: { name: `e${i}`, namespace: 'shop', creationTimestamp: `2026-01-0${i + 1}T00:00:00Z` },
    }));
    const main = listenersOf(ambientWorld([...shop({ gateway }), ...entries]), way).get('main_internal');
    expect(text(main?.filterChainMatcher)).toContain('"10.9.0.1"');
    expect(text(main?.filterChainMatcher)).not.toContain('"10.9.0.2"');
  });

  it('serves no service that another label keeps away, and none without ambient mode', () => {
    const none = ambientWorld(shop({ webLabels: { 'istio.io/use-waypoint': 'none' } }));
    expect([...chainsOf(none, way).keys()].sort()).toEqual(['direct-http', 'direct-tcp']);
    const without = world(shop());
    expect([...chainsOf(without, way).keys()].sort()).toEqual(['direct-http', 'direct-tcp']);
    expect([...clustersOf(without, way).keys()].sort()).toEqual(['connect_originate', 'encap', 'main_internal']);
  });

  it('routes by the VirtualServices of a service, and knows destinations beyond it as clusters of the mesh', () => {
    const routes = istio('VirtualService', 'web', {
      hosts: ['web.shop.svc.cluster.local'],
      http: [
        { match: [{ sourceLabels: { app: 'x' } }], route: [{ destination: { host: 'labelled.example.com' } }] },
        {
          route: [
            { destination: { host: 'web.shop.svc.cluster.local', port: { number: 80 } }, weight: 90 },
            { destination: { host: 'far.other.svc.cluster.local' }, weight: 10 },
          ],
        },
      ],
    });
    const state = ambientWorld([...shop(), ...elsewhere('far'), routes]);
    const chain = text(chainsOf(state, way).get('inbound-vip|80|http|web.shop.svc.cluster.local'));
    expect(chain).toContain('"inbound-vip|80|http|web.shop.svc.cluster.local"');
    expect(chain).toContain('"outbound|80||far.other.svc.cluster.local"');
    expect(chain).not.toContain('labelled.example.com');
    expect(clustersOf(state, way).has('outbound|80||far.other.svc.cluster.local')).toBe(true);
    expect(
      clustersOf(ambientWorld([...shop(), ...elsewhere('far')]), way).has('outbound|80||far.other.svc.cluster.local'),
    ).toBe(false);
  });

  it('applies a policy to the service that it names alone, by who the tunnel says the client is', () => {
    const targetRefs = [{ group: '', kind: 'Service', name: 'web' }];
    const rules = [{ from: [{ source: { principals: ['cluster.local/ns/shop/sa/client'] } }] }];
    const named = istio('AuthorizationPolicy', 'named', { targetRefs, action: 'DENY', rules });
    const general = istio('AuthorizationPolicy', 'general', { action: 'DENY', rules });
    const chains = chainsOf(ambientWorld([...shop(), named, general]), way);
    const web = text(chains.get('inbound-vip|80|http|web.shop.svc.cluster.local'));
    expect(web).toContain('ns[shop]-policy[named]-rule[0]');
    expect(web).toContain('io.istio.peer_principal');
    expect(web).not.toContain('policy[general]');
    expect(text(chains.get('inbound-vip|9000|tcp|web.shop.svc.cluster.local'))).toContain('policy[named]');
    expect(text(chains.get('direct-http'))).not.toContain('rbac.v3.RBAC');
  });

  it('has clusters for the subsets of a rule, with the TLS of the rule inside of the tunnel', () => {
    const rule = istio('DestinationRule', 'web', {
      host: 'web.shop.svc.cluster.local',
      trafficPolicy: { tls: { mode: 'SIMPLE', sni: 'web.example.com' } },
      subsets: [{ name: 'v1', labels: { version: 'v1' } }],
    });
    const found = clustersOf(ambientWorld([...shop(), rule]), way);
    const subset = found.get('inbound-vip|80|http/v1|web.shop.svc.cluster.local');
    expect(subset?.transportSocket?.name).toBe('internal_upstream');
    expect(text(subset?.transportSocket)).toContain('"sni":"web.example.com"');
    expect(text(subset?.metadata)).toContain('"subset":"http/v1"');
  });

  it('reaches captured workloads through tunnels, others directly', () => {
    const cluster = 'inbound-vip|80|http|web.shop.svc.cluster.local';
    const [captured] = endpointsIn(ambientWorld(shop()), way, cluster);
    expect(captured?.endpoint?.address?.envoyInternalAddress).toEqual({
      serverListenerName: 'connect_originate',
      endpointId: '10.1.0.2:8080',
    });
    expect(captured?.metadata?.filterMetadata?.['envoy.transport_socket_match']).toBeUndefined();
    const [direct] = endpointsIn(ambientWorld([...shop(), pod('web', '10.1.0.2', { captured: false })]), way, cluster);
    expect(direct?.endpoint?.address?.socketAddress?.address).toBe('10.1.0.2');
  });
});

describe('a gateway', () => {
  const cluster = 'outbound|80||web.shop.svc.cluster.local';

  it('leads to the waypoint of a service that asks for it', () => {
    const state = ambientWorld(shop({ webLabels: { 'istio.io/ingress-use-waypoint': 'true' } }));
    const [endpoint] = endpointsIn(state, gatewayProxy(), cluster);
    expect(endpoint?.endpoint?.address?.envoyInternalAddress?.endpointId).toBe('10.1.0.1:15008');
    expect(endpoint?.metadata?.filterMetadata).toMatchObject({
      'envoy.filters.listener.original_dst': { local: '10.0.0.2:80', waypoint: '10.1.0.1:15008' },
      'envoy.transport_socket_match': { tunnel: 'http' },
    });
  });

  it('finds a waypoint by the address of its service; one that no service has is none', () => {
    const webLabels = { 'istio.io/ingress-use-waypoint': 'true' };
    const target = (value: string): unknown => {
      const gateway = waypoint('way', { namespace: 'shop', addresses: [{ type: 'IPAddress', value }] });
      const [endpoint] = endpointsIn(ambientWorld(shop({ gateway, webLabels })), gatewayProxy(), cluster);
      return endpoint?.endpoint?.address?.envoyInternalAddress?.endpointId;
    };
    expect(target('10.0.0.1')).toBe('10.1.0.1:15008');
    expect(target('10.0.0.99')).toBe('10.1.0.2:8080');
  });

  it('leads nowhere while the service of the waypoint is unknown, or does not listen for tunnels', () => {
    const asking = shop({ webLabels: { 'istio.io/ingress-use-waypoint': 'true' } });
    const deaf = service('way', '10.0.0.1', [port('http', 80)]);
    const unknown = asking.filter(
      ({ kind, metadata }) => kind !== 'Service' || (metadata as JsonObject).name !== 'way',
    );
    for (const objects of [unknown, [...asking, deaf]]) {
      expect(endpointsIn(ambientWorld(objects), gatewayProxy(), cluster)).toEqual([]);
    }
  });

  it('leads to the workloads of all others', () => {
    const [endpoint] = endpointsIn(ambientWorld(shop()), gatewayProxy(), cluster);
    expect(endpoint?.endpoint?.address?.envoyInternalAddress?.endpointId).toBe('10.1.0.2:8080');
  });
});
