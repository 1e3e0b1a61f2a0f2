// Where a waypoint sends TCP connections to a port of a service, and requests to destinations of a route.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { HttpConnectionManager, TcpProxy } from '../../../../src/xds/proto/types.gen.ts';
import { destinationRule, virtualService } from '../../core/registry/fixtures.ts';
import { ambientWorld, namespace } from '../../core/select/ambient/fixtures.ts';
import { chainsOf, port, service, shop, waypointProxy } from './mesh.ts';

const WEB = 'web.shop.svc.cluster.local';
const OWN = `inbound-vip|9000|tcp|${WEB}`;

/** The TCP proxy of the chain of port 9000. */
function tcpProxy(objects: readonly JsonObject[], mesh?: JsonObject): TcpProxy {
  const chain = chainsOf(ambientWorld([...shop(), ...objects], {}, mesh), waypointProxy()).get(OWN);
  return chain?.filters?.at(-1)?.typedConfig as unknown as TcpProxy;
}
const to = (host: string, more: JsonObject = {}, weight?: number): JsonObject => ({
  destination: { host, ...more },
  ...(weight !== undefined && { weight }),
});
const rules = (spec: JsonObject, name = 'v', day = 1, place = 'shop'): JsonObject =>
  virtualService(name, { hosts: [WEB], ...spec }, { namespace: place, day });
/** A rule that leads to the service `NAME.elsewhere.com`, which nothing knows. */
const route = (name: string, ...match: readonly JsonObject[]): JsonObject => ({
  match: [...match],
  route: [to(`${name}.elsewhere.com`, { port: { number: 1 } })],
});
/** Name of the rule that a connection takes; `own`: none. */
function taken(...objects: readonly JsonObject[]): string {
  const { cluster = '' } = tcpProxy(objects);
  return cluster === OWN ? 'own' : (cluster.split('|').at(-1)?.split('.')[0] ?? '');
}

describe('a connection to a service behind a waypoint', () => {
  it('goes to the service itself without a rule', () => {
    expect(tcpProxy([])).toMatchObject({ cluster: OWN, statPrefix: OWN });
  });

  it.each<[string, JsonObject, string]>([
    ['without a match', {}, 'a'],
    ['for its port', { port: 9000 }, 'a'],
    ['for any port', { port: 0 }, 'a'],
    ['for another port', { port: 9001 }, 'own'],
    ['for the mesh', { gateways: ['mesh'] }, 'a'],
    ['for the mesh beside a gateway', { gateways: ['gw', 'mesh'] }, 'a'],
    ['for a gateway', { gateways: ['gw'] }, 'own'],
    ['for clients with labels', { sourceLabels: { app: 'way' } }, 'own'],
    ['for clients of a namespace', { sourceNamespace: 'shop' }, 'own'],
  ])('takes a TCP rule %s, or not: %j', (_what, match, expected) => {
    const written = Object.keys(match).length === 0 ? route('a') : route('a', match);
    expect(taken(rules({ tcp: [written] }))).toBe(expected);
  });

  it('takes the first rule with a match that fits', () => {
    expect(taken(rules({ tcp: [route('a', { port: 1 }), route('b', { port: 1 }, { port: 9000 }), route('c')] }))).toBe(
      'b',
    );
    expect(taken(rules({ tcp: [route('a', { port: 1 })] }), rules({ tcp: [route('b')] }, 'w', 2))).toBe('b');
  });

  it.each<[string, readonly string[], JsonObject, string]>([
    ['of its own name', [WEB], {}, 'tls'],
    ['of another name', ['other.com'], {}, 'tcp'],
    ['of a second name', [WEB, 'other.com'], {}, 'tcp'],
    ['of its own name for another port', [WEB], { port: 1 }, 'tcp'],
  ])('takes a TLS rule %s before TCP rules, even older ones, or not: %j', (_what, sniHosts, more, expected) => {
    const tls = { tls: [route('tls', { sniHosts: [...sniHosts], ...more })] };
    const hosts = [WEB, 'other.com'];
    expect(taken(rules({ tcp: [route('tcp')] }), rules({ ...tls, hosts }, 'w', 2))).toBe(expected);
  });

  it('takes a TLS rule of which one match fits, and rules that its namespace alone sees', () => {
    const matches = [{ sniHosts: ['other.com'] }, { sniHosts: [WEB] }];
    const hosts = [WEB, 'other.com'];
    expect(taken(rules({ hosts, tls: [route('tls', ...matches)], exportTo: ['.'] }))).toBe('tls');
  });

  it('is split by weight, with the connections of the rule for the first destination, of no subset', () => {
    const pool = { connectionPool: { tcp: { idleTimeout: '7s' } } };
    const subsets = [
      { name: 'v1', labels: { v: '1' }, trafficPolicy: { tunnel: { targetHost: 'a.com', targetPort: 1 } } },
    ];
    const rule = destinationRule('r', WEB, { trafficPolicy: pool, subsets }, { namespace: 'shop' });
    const split = [to(WEB, { subset: 'v1' }, 90), to('far.com', { port: { number: 1 } }, 10), to('none.com', {}, 0)];
    const found = tcpProxy([rule, rules({ tcp: [{ route: split }] })]);
    expect(found.weightedClusters?.clusters?.map(({ name, weight }) => [name, weight])).toEqual([
      [`inbound-vip|9000|tcp/v1|${WEB}`, 90],
      ['inbound-vip|1|http|far.com', 10],
    ]);
    expect([found.idleTimeout, found.tunnelingConfig]).toEqual([{ seconds: 7, nanos: 0 }, undefined]);
    const single = tcpProxy([rule, rules({ tcp: [{ route: [to(WEB, { subset: 'v1' })] }] })]);
    expect(single.tunnelingConfig?.hostname).toBe('a.com:1');
  });

  it('has statistics by the pattern of the mesh', () => {
    const found = tcpProxy([], { inboundClusterStatName: '%SERVICE%_%SERVICE_PORT%' });
    expect(found.statPrefix).toBe('web.shop_9000');
  });
});

describe('a destination of a waypoint', () => {
  const beyond = [
    namespace('far', { 'istio.io/use-waypoint': 'none' }),
    { ...service('one', '10.0.0.7', [port('http', 81)]), metadata: { name: 'one', namespace: 'far' } },
    { ...service('two', '10.0.0.8', [port('http', 81), port('tcp', 82)]), metadata: { name: 'two', namespace: 'far' } },
  ];
  const single = service('single', '10.0.0.9', [port('http', 83)]);

  it.each<[string, JsonObject, string]>([
    ['behind it is its own', { host: WEB, port: { number: 80 } }, `inbound-vip|80|http|${WEB}`],
    ['without a port means the port of the listener', { host: WEB }, `inbound-vip|80|http|${WEB}`],
    ['with a single port means that', { host: 'single' }, 'inbound-vip|83|http|single.shop.svc.cluster.local'],
    ['on a port of TCP is one of TCP', { host: WEB, port: { number: 9000 } }, `inbound-vip|9000|tcp|${WEB}`],
    ['with a subset names it', { host: WEB, subset: 'v1' }, `inbound-vip|80|http/v1|${WEB}`],
    [
      'beyond it is one of the mesh',
      { host: 'one.far.svc.cluster.local', subset: 'v' },
      'outbound|81|v|one.far.svc.cluster.local',
    ],
    ['beyond it with more ports', { host: 'two.far.svc.cluster.local' }, 'outbound|80||two.far.svc.cluster.local'],
    ['that nothing knows counts as behind it', { host: 'gone.com' }, 'inbound-vip|80|http|gone.com'],
  ])('%s: %j', (_what, destination, cluster) => {
    const mirrored = { route: [{ destination }], mirrors: [{ destination: { host: WEB } }] };
    const state = ambientWorld([...shop(), ...beyond, single, rules({ http: [mirrored] })]);
    const chain = chainsOf(state, waypointProxy()).get(`inbound-vip|80|http|${WEB}`);
    const manager = chain?.filters?.at(-1)?.typedConfig as unknown as HttpConnectionManager;
    expect(manager.routeConfig?.virtualHosts?.[0]?.routes?.map(({ route: action }) => action?.cluster)).toEqual([
      cluster,
    ]);
  });
});
