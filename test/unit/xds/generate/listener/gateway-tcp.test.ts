// Which rule of which VirtualService a TCP or TLS server of a gateway has.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { gateway as apiGateway, listener, object } from '../../../core/translate/gateway-api/scene.ts';
import { httpService, istio, routerNode, service } from '../route/scene.ts';
import { ListenerScene, tcpProxy } from './scene.ts';

const server = (hosts: readonly string[], more: JsonObject = {}): JsonObject => ({
  port: { number: 9000, name: 'p', protocol: 'TCP' },
  hosts,
  ...more,
});
const gateway = (name: string, one: JsonObject): JsonObject =>
  istio('Gateway', 'edge', name, { selector: { istio: 'ingressgateway' }, servers: [one] });
const to = (host: string): JsonObject => ({ route: [{ destination: { host, port: { number: 80 } } }] });

function scene(...objects: readonly JsonObject[]): ListenerScene {
  const targets = ['a', 'b'].map((name, i) => httpService(name, 'edge', 80, `10.96.0.${i + 1}`));
  const made = new ListenerScene([...targets, ...objects]);
  made.connect('gw', routerNode('edge'));
  return made;
}

/** The first label of the service that each chain leads to. */
function targets(made: ListenerScene, name = '0.0.0.0_9000'): readonly (string | undefined)[] {
  if (!made.names('gw').includes(name)) return [];
  return made.chains('gw', name).map(
    chain =>
      tcpProxy(chain)
        .cluster?.split(/\|+|_\.+/)
        .at(-1)
        ?.split('.')[0],
  );
}

describe('the rule of a TCP server', () => {
  const routed = (tcp: readonly JsonObject[], more: JsonObject = {}): readonly (string | undefined)[] => {
    const spec = { hosts: ['x.example.com'], gateways: ['gw', 'other'], tcp, ...more };
    return targets(scene(gateway('gw', server(['*.example.com'])), istio('VirtualService', 'edge', 'v', spec)));
  };

  it.each<[string, readonly JsonObject[], readonly string[]]>([
    ['the first without a match', [to('a'), to('b')], ['a']],
    [
      'the first of its port',
      [
        { match: [{ port: 9001 }], ...to('a') },
        { match: [{ port: 9000 }], ...to('b') },
      ],
      ['b'],
    ],
    ['the first of its Gateway', [{ match: [{ gateways: ['other'] }], ...to('a') }, to('b')], ['b']],
    ['one of several matches', [{ match: [{ port: 9001 }, { gateways: ['edge/gw'] }], ...to('a') }, to('b')], ['a']],
    ['none that fits no match', [{ match: [{ port: 9001 }], ...to('a') }], []],
  ])('is %s', (_what, tcp, expected) => {
    expect(routed(tcp)).toEqual(expected);
  });

  it.each<[readonly string[], readonly string[], readonly string[]]>([
    [['*'], ['x.example.com'], ['a']],
    [['x.example.com'], ['x.example.com'], ['a']],
    [['y.example.com'], ['x.example.com'], []],
    [['edge/*.example.com'], ['x.example.com'], ['a']],
    [['far/*.example.com'], ['x.example.com'], []],
    [['far/*', 'edge/x.example.com'], ['x.example.com'], ['a']],
    [['./*'], ['x.example.com'], ['a']],
  ])('of a server with the hosts %j is of a VirtualService with %j: %j', (hosts, own, expected) => {
    const spec = { hosts: own, gateways: ['gw'], tcp: [to('a')] };
    expect(targets(scene(gateway('gw', server(hosts)), istio('VirtualService', 'edge', 'v', spec)))).toEqual(expected);
  });

  it('is no TLS rule, also where the server ends TLS', () => {
    const tls = [{ match: [{ sniHosts: ['x.example.com'] }], ...to('a') }];
    const spec = { hosts: ['x.example.com'], gateways: ['gw'], tls };
    const secure = server(['x.example.com'], {
      port: { number: 9000, name: 'p', protocol: 'TLS' },
      tls: { mode: 'SIMPLE', credentialName: 'c' },
    });
    expect(targets(scene(gateway('gw', secure), istio('VirtualService', 'edge', 'v', spec)))).toEqual([]);
    const plain = { ...spec, tcp: [to('b')] };
    expect(targets(scene(gateway('gw', secure), istio('VirtualService', 'edge', 'v', plain)))).toEqual(['b']);
  });
});

describe('a listener that ends the TLS of a TLSRoute', () => {
  it('leads to its backend, whatever name a client sends', () => {
    const tls = { options: { 'gateway.istio.io/tls-terminate-mode': 'ISTIO_SIMPLE' } };
    const rules = [{ backendRefs: [{ name: 'web', port: 80 }] }];
    const spec = { parentRefs: [{ name: 'gw' }], hostnames: ['x.com'], rules };
    const made = new ListenerScene([
      service('gw-istio', 'infra', {
        clusterIP: '10.96.0.9',
        ports: [{ name: 'tls', port: 9000 }],
        selector: { app: 'gw' },
      }),
      service('web', 'infra', { clusterIP: '10.96.0.8', ports: [{ name: 'tcp', port: 80 }] }),
      apiGateway('gw', [listener('tls', { port: 9000, protocol: 'TLS', hostname: 'x.com', tls })]),
      object('TLSRoute', 'infra', 'r', spec),
    ]);
    made.connect('gw', routerNode('infra', { app: 'gw' }));
    expect(targets(made)).toEqual(['web']);
  });
});

describe('a server that passes TLS on', () => {
  const passes = server(['*.example.com'], {
    port: { number: 9000, name: 'p', protocol: 'TLS' },
    tls: { mode: 'PASSTHROUGH' },
  });
  const rule = (sniHosts: readonly string[], host: string, more: JsonObject = {}): JsonObject => ({
    match: [{ sniHosts, ...more }],
    ...to(host),
  });
  const bound = (tls: readonly JsonObject[], meta: JsonObject = {}, namespace = 'edge'): JsonObject => {
    const spec = { hosts: ['*.example.com'], gateways: ['edge/gw'], tls, ...meta };
    return istio('VirtualService', namespace, `v-${namespace}`, spec);
  };
  const named = (made: ListenerScene): unknown =>
    made.chains('gw', '0.0.0.0_9000').map(chain => chain.filterChainMatch?.serverNames);

  it('leads by the names of each match that fits it', () => {
    const rules = [
      rule(['a.example.com'], 'a'),
      rule(['b.example.com'], 'b', { port: 9001 }),
      rule(['c.example.com'], 'b', { port: 9000, gateways: ['edge/gw'] }),
    ];
    const made = scene(gateway('gw', passes), bound(rules));
    expect(named(made)).toEqual([['a.example.com'], ['c.example.com']]);
    expect(targets(made)).toEqual(['a', 'b']);
  });

  it('has rules of other namespaces that its own can see', () => {
    const far = (exportTo: readonly string[]) =>
      scene(gateway('gw', passes), bound([rule(['a.example.com'], 'a.edge.svc.cluster.local')], { exportTo }, 'far'));
    expect(named(far(['edge']))).toEqual([['a.example.com']]);
    expect(far(['.']).names('gw')).not.toContain('0.0.0.0_9000');
  });
});

describe('a server that routes by SNI alone', () => {
  it('leads to the TCP ports of services of the mesh that its hosts cover', () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ];
    const external = istio('ServiceEntry', 'edge', 'out', {
      hosts: ['out.edge.svc.cluster.local'],
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      resolution: 'DNS',
      location: 'MESH_EXTERNAL',
    });
    const passes = server(['*.edge.svc.cluster.local'], {
      port: { number: 15_443, name: 'tls', protocol: 'TLS' },
      tls: { mode: 'AUTO_PASSTHROUGH' },
    });
    const far = httpService('far', 'far', 80, '10.96.0.8');
    const made = scene(gateway('gw', passes), service('c', 'edge', { clusterIP: '10.96.0.7', ports }), external, far);
    expect(made.chains('gw', '0.0.0.0_15443').map(chain => chain.filterChainMatch?.serverNames)).toEqual(
      ['a', 'b', 'c'].map(name => [`outbound_.80_._.${name}.edge.svc.cluster.local`]),
    );
  });

  it('leads to each subset of a service, too, and to services of any of its hosts', () => {
    const passes = server(['x.example.com', '*.edge.svc.cluster.local'], {
      port: { number: 15_443, name: 'tls', protocol: 'TLS' },
      tls: { mode: 'AUTO_PASSTHROUGH' },
    });
    const rule = istio('DestinationRule', 'edge', 'a', {
      host: 'a.edge.svc.cluster.local',
      subsets: [{ name: 'v1', labels: { version: 'v1' } }],
    });
    const made = scene(gateway('gw', passes), rule);
    expect(made.chains('gw', '0.0.0.0_15443').map(chain => chain.filterChainMatch?.serverNames)).toEqual(
      ['_._.a', '_.v1_.a', '_._.b'].map(to => [`outbound_.80${to}.edge.svc.cluster.local`]),
    );
  });
});

describe('the routes of PASSTHROUGH servers', () => {
  const passthrough = (hosts: readonly string[], port = 9000): JsonObject => ({
    port: { number: port, name: `${port}-${hosts.join()}`, protocol: 'TLS' },
    tls: { mode: 'PASSTHROUGH' },
    hosts,
  });
  const rule = (host: string, target: string, more: JsonObject = {}): JsonObject => ({
    match: [{ sniHosts: [host], ...more }],
    ...to(target),
  });
  const servedBy = (servers: readonly JsonObject[], ...specs: readonly JsonObject[]): ListenerScene =>
    scene(
      istio('Gateway', 'edge', 'gw', { selector: { istio: 'ingressgateway' }, servers }),
      ...specs.map((spec, i) => istio('VirtualService', 'edge', `v${i}`, { gateways: ['gw'], ...spec })),
    );
  const names = (made: ListenerScene): readonly unknown[] =>
    made.chains('gw', '0.0.0.0_9000').map(chain => chain.filterChainMatch?.serverNames?.join());

  it('are of the first rule with a name, in the order of servers, VirtualServices and rules', () => {
    const made = servedBy(
      [passthrough(['x.example.com']), passthrough(['*.example.com']), passthrough(['far/z.example.com'])],
      { hosts: ['y.example.com'], tls: [rule('y.example.com', 'a')] },
      {
        hosts: ['x.example.com', 'w.example.com'],
        tls: [rule('x.example.com', 'a'), rule('w.example.com', 'b'), rule('x.example.com', 'b')],
      },
      { hosts: ['z.example.com'], tls: [rule('z.example.com', 'b')] },
    );
    expect(names(made)).toEqual(['x.example.com', 'w.example.com', 'y.example.com', 'z.example.com']);
    expect(targets(made)).toEqual(['a', 'b', 'a', 'b']);
  });

  it('of a rule for one port are of the servers declared with it', () => {
    const spec = {
      hosts: ['x.example.com'],
      tls: [rule('x.example.com', 'a', { port: 9001 }), rule('x.example.com', 'b', { port: 9000 })],
    };
    const made = servedBy([passthrough(['x.example.com']), passthrough(['x.example.com'], 9001)], spec);
    expect([targets(made), targets(made, '0.0.0.0_9001')]).toEqual([['b'], ['a']]);
  });

  it('cost for twice as many servers and rules a ratio of two, not of four', () => {
    const costOf = (count: number): number => {
      const hosts = Array.from({ length: count }, (_, i) => `h${i}.example.com`);
      const made = servedBy(
        hosts.map(host => passthrough([host])),
        { hosts, tls: hosts.map(host => rule(host, 'a')) },
      );
      const before = made.tracker.stats.hits;
      expect(made.chains('gw', '0.0.0.0_9000').length).toBe(count);
      return made.tracker.stats.hits - before;
    };
    expect(costOf(200) / costOf(100)).toBeLessThan(2.5);
  });
});
