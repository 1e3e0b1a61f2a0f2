// Which consistent hash of a DestinationRule spreads the requests of a route.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { httpService, istio, Scene, SHOP, service, shopScene, sidecarNode } from './scene.ts';

const by = (httpHeaderName: string): JsonObject => ({ loadBalancer: { consistentHash: { httpHeaderName } } });
const at = (number: number, settings: JsonObject): JsonObject => ({ port: { number }, ...settings });
const rule = (spec: JsonObject, host = 'shop'): JsonObject =>
  istio('DestinationRule', 'prod', 'rule', { host, ...spec });
const POOL = { connectionPool: { tcp: { maxConnections: 1 } } };

interface Hashed {
  readonly header?: { readonly headerName?: string };
}
const headers = (policies: readonly Hashed[] | undefined): readonly (string | undefined)[] =>
  (policies ?? []).map(({ header }) => header?.headerName);

/** Of the routes to these destinations of `shop`, a rule each. */
function hashes(spec: JsonObject, ...destinations: readonly JsonObject[]): readonly unknown[] {
  const http = destinations.map((destination, i) => ({
    ...(i === destinations.length - 1 ? {} : { match: [{ uri: { prefix: `/${i}` } }] }),
    route: [{ destination: { host: 'shop', ...destination } }],
  }));
  const routes = shopScene(http, [rule(spec)]).routes('client', '8080', SHOP);
  return routes.map(({ route }) => headers(route?.hashPolicy as readonly Hashed[] | undefined).join());
}

describe('the hash of a destination', () => {
  const port = (number: number): JsonObject => ({ port: { number } });

  it('is that of the settings of its own port', () => {
    const trafficPolicy = { ...by('top'), portLevelSettings: [at(1, by('one')), at(2, by('two')), at(3, POOL)] };
    expect(hashes({ trafficPolicy }, port(2), port(1), port(3), port(4), {})).toEqual([
      'two',
      'one',
      'top',
      'top',
      'top',
    ]);
  });

  it('is that of its own subset and the port in it, else of the rule', () => {
    const subsets = [
      { name: 'a', labels: { v: 'a' }, trafficPolicy: by('a') },
      { name: 'b', labels: { v: 'b' }, trafficPolicy: { ...by('b'), portLevelSettings: [at(1, by('b-one'))] } },
      { name: 'c', labels: { v: 'c' } },
    ];
    const policy = { ...by('top'), portLevelSettings: [at(1, by('one'))] };
    const destinations = [
      { subset: 'a' },
      { subset: 'a', ...port(1) },
      { subset: 'b' },
      { subset: 'b', ...port(1) },
      { subset: 'c' },
      { subset: 'c', ...port(1) },
      { subset: 'none' },
    ];
    expect(hashes({ trafficPolicy: policy, subsets }, ...destinations)).toEqual([
      'a',
      'a',
      'b',
      'b-one',
      'top',
      'one',
      'top',
    ]);
    expect(hashes({ trafficPolicy: by('top') }, { subset: 'a' })).toEqual(['top']);
  });

  it('is found where only a port or a subset hashes', () => {
    const ofPort = { trafficPolicy: { ...POOL, portLevelSettings: [at(1, by('one'))] } };
    expect(hashes(ofPort, port(1), {})).toEqual(['one', '']);
    const subsets = [
      { name: 'a', labels: { v: 'a' } },
      { name: 'b', labels: { v: 'b' }, trafficPolicy: by('b') },
    ];
    expect(hashes({ subsets }, { subset: 'b' }, { subset: 'a' }, {})).toEqual(['b', '', '']);
  });

  it('is that of a rule with a wildcard too', () => {
    const scene = shopScene(
      [{ route: [{ destination: { host: 'shop' } }] }],
      [rule({ trafficPolicy: by('wide') }, '*.prod.svc.cluster.local'), httpService('far', 'far', 8080, '10.96.0.7')],
    );
    const hash = (host: string): unknown =>
      headers(scene.routes('client', '8080', host)[0]?.route?.hashPolicy as never);
    expect(hash(SHOP)).toEqual(['wide']);
    expect(hash('far.far.svc.cluster.local:8080')).toEqual([]);
  });

  it('is none for a host that is no service of the proxy', () => {
    const scene = shopScene(
      [{ route: [{ destination: { host: 'gone' } }] }],
      [rule({ trafficPolicy: by('x') }, 'gone')],
    );
    expect(scene.routes('client', '8080', SHOP)[0]?.route?.hashPolicy).toBeUndefined();
  });
});

describe('the hash of a service without a VirtualService', () => {
  it('is that of the settings of the port', () => {
    const scene = new Scene([
      service('shop', 'prod', {
        clusterIP: '10.96.0.1',
        ports: [
          { name: 'http-a', port: 1 },
          { name: 'http-b', port: 2 },
        ],
      }),
      rule({ trafficPolicy: { ...by('top'), portLevelSettings: [at(1, by('one'))] } }),
    ]);
    scene.connect('client', sidecarNode('prod'));
    const hash = (number: number): unknown => {
      const [route] = scene.routes('client', `${number}`, `shop.prod.svc.cluster.local:${number}`);
      return headers(route?.route?.hashPolicy as never);
    };
    expect([hash(1), hash(2)]).toEqual([['one'], ['top']]);
  });
});
