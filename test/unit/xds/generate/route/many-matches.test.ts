// VirtualServices with more matches or headers than routes are made of in one run.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { SliceGrowth } from '../../../../../src/core/query/slice-growth.ts';
import { sidecarVirtualHosts } from '../../../../../src/core/select/route/sidecar-virtual-hosts.ts';
import { virtualServices } from '../../../../../src/core/select/scope/virtual-services.ts';
import { routeNamed } from '../../../../../src/xds/assemble/route/resources.ts';
import type { Route } from '../../../../../src/xds/proto/types.gen.ts';
import { httpService, istio, routerNode, Scene, shopRoutes, sidecarNode } from './scene.ts';

const COUNT = 2_048;
const paths = (count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, i) => ({ uri: { prefix: `/p${i}` } }));
const route = [{ destination: { host: 'shop' } }];
const rulesOf = (count: number): readonly JsonObject[] => paths(count).map(match => ({ match: [match], route }));
const gateway = istio('Gateway', 'prod', 'gw', {
  selector: { istio: 'ingressgateway' },
  servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
});

function sceneOf(http: readonly JsonObject[], hosts: readonly string[]): Scene {
  const gateways = ['mesh', 'prod/gw'];
  const scene = new Scene([
    gateway,
    httpService('shop', 'prod', 80, '10.96.0.1'),
    istio('VirtualService', 'prod', 'shop', { hosts: [...hosts], gateways, http: [...http] }),
  ]);
  scene.connect('client', sidecarNode('prod'));
  scene.connect('gateway', routerNode('prod'));
  return scene;
}

/** The value of a query, and how many slices of a small budget it took. */
function inSlices<A extends string, R>(
  scene: Scene,
  connection: string,
  query: Query<A, R>,
  arg: NoInfer<A>,
): readonly [R, number] {
  const proxy = scene.state.proxies.get(connection)!;
  const growth = new SliceGrowth();
  for (let slices = 1; ; slices++) {
    const slice = scene.tracker.within(growth.budget(8), () => ({
      made: scene.tracker.get(scene.state, proxy, query, arg),
    }));
    if (slice.value !== undefined) return [slice.value.made, slices];
    growth.cut(slice);
  }
}

/** The routes of the first virtual host, and how many slices of a small budget they took. */
function sliced(http: readonly JsonObject[], connection: 'client' | 'gateway'): readonly [readonly Route[], number] {
  const scene = sceneOf(http, connection === 'client' ? ['shop'] : ['shop.example.com']);
  const [made, slices] = inSlices(scene, connection, routeNamed, connection === 'client' ? '80' : 'http.80');
  return [made!.message.virtualHosts?.[0]?.routes ?? [], slices];
}

describe('a VirtualService with thousands of matches', () => {
  for (const connection of ['client', 'gateway'] as const) {
    it(`has a route for each, in order, which are made in slices: ${connection}`, () => {
      const [few] = sliced(rulesOf(100), connection);
      const [made, slices] = sliced(rulesOf(COUNT), connection);
      expect(made.slice(0, few.length)).toEqual(few);
      expect(made.map(({ match }) => match?.prefix)).toEqual(paths(COUNT).map((_, i) => `/p${i}`));
      expect(slices).toBeGreaterThan(14);
    });
  }

  it('has its names resolved in slices', () => {
    const rules = rulesOf(COUNT).map((rule, i) => ({ ...rule, route: [{ destination: { host: `h${i % 9}` } }] }));
    const [[resolved], slices] = inSlices(sceneOf(rules, ['shop']), 'client', virtualServices, '');
    expect(resolved!.spec.http!.map(({ route }) => route?.[0]?.destination?.host)).toEqual(
      rules.map((_, i) => `h${i % 9}.prod.svc.cluster.local`),
    );
    expect(resolved!.destinations.all).toHaveLength(9);
    expect(slices).toBeGreaterThan(4);
  });

  it('has its matches listed in runs of their own', () => {
    const runsOf = (count: number): number => {
      const scene = sceneOf(rulesOf(count), ['shop']);
      const [found] = inSlices(scene, 'client', sidecarVirtualHosts, '80');
      expect(found!.hosts.wrappers[0]!.routes.selected).toEqual(Array.from({ length: count }, (_, i) => [i, 0]));
      return scene.tracker.stats.runs;
    };
    expect(runsOf(COUNT)).toBeGreaterThan(runsOf(100));
  });

  it('has none after one that matches everything', () => {
    const [made] = sliced([...rulesOf(COUNT), { match: [{ uri: { prefix: '/' } }], route }, ...rulesOf(300)], 'client');
    expect(made).toHaveLength(COUNT + 1);
    const [early] = sliced([{ match: [{ uri: { prefix: '/' } }, ...paths(300)], route }], 'client');
    expect(early).toHaveLength(1);
  });

  it('has the same routes whether they are in one rule or in several', () => {
    const [made] = sliced([{ match: [...paths(COUNT)], route }], 'client');
    const [apart] = sliced(rulesOf(COUNT), 'client');
    expect(made).toEqual(apart);
  });
});

describe('a rule with thousands of headers', () => {
  it('has them sorted, in the request and in the match', () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `x-${i}`);
    const set = Object.fromEntries(names.map(name => [name, 'v']));
    const withoutHeaders = Object.fromEntries(names.map(name => [name, { exact: 'v' }]));
    const [made] = shopRoutes({ match: [{ withoutHeaders }], headers: { request: { set } }, route });
    expect(made?.match?.headers?.map(({ name }) => name)).toEqual([...names].sort());
    expect(made?.requestHeadersToAdd?.map(({ header }) => header?.key)).toEqual([...names].sort());
  });

  it('has them sorted in runs of their own, before the routes are made', () => {
    const set = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`x-${i}`, 'v']));
    const runsOf = (headers: JsonObject): number => {
      const scene = sceneOf([{ headers, route }], ['shop']);
      scene.tracker.get(scene.state, scene.state.proxies.get('client')!, routeNamed, '80');
      return scene.tracker.stats.generated;
    };
    expect(runsOf({ request: { set }, response: { set: { ...set }, add: { ...set } } }) - runsOf({})).toBe(3);
  });
});
