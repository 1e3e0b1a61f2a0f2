// Which rule of which VirtualService a TCP or TLS server of a gateway has.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
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
});
