// VirtualServices with more hosts than virtual hosts are made of in one run.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { SliceGrowth } from '../../../../../src/core/query/slice-growth.ts';
import { routeNamed } from '../../../../../src/xds/assemble/route/resources.ts';
import type { RouteConfiguration, VirtualHost } from '../../../../../src/xds/proto/types.gen.ts';
import { istio, routerNode, Scene, sidecarNode } from './scene.ts';

const COUNT = 8_192;
const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `H${i % 7 === 0 ? 'x' : ''}${i}.example.com`);
const withHosts = (name: string, hosts: readonly string[], gateways: readonly string[]): JsonObject =>
  istio('VirtualService', 'a', name, {
    hosts: [...hosts],
    gateways: [...gateways],
    http: [{ route: [{ destination: { host: `${name}.example.com` } }] }],
  });
const gateway = istio('Gateway', 'a', 'gw', {
  selector: { istio: 'ingressgateway' },
  servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
});

/** The configuration, and how many slices of `allowance` it took. */
function sliced(scene: Scene, connection: string, name: string): readonly [RouteConfiguration, number] {
  const growth = new SliceGrowth();
  const proxy = scene.state.proxies.get(connection)!;
  for (let slices = 1; ; slices++) {
    const slice = scene.tracker.within(growth.budget(16), () => ({
      made: scene.tracker.get(scene.state, proxy, routeNamed, name),
    }));
    if (slice.value !== undefined) return [slice.value.made!.message, slices];
    growth.cut(slice);
  }
}

const namesOf = ({ virtualHosts = [] }: RouteConfiguration): readonly (string | undefined)[] =>
  virtualHosts.map(({ name }) => name);

describe('a VirtualService with thousands of hosts', () => {
  it('has a virtual host for each on a sidecar, by name, without a second one of any host', () => {
    const hosts = numbered(COUNT);
    const scene = new Scene([
      withHosts('v', hosts, ['mesh']),
      withHosts('w', [...hosts.slice(0, 9), 'z.com'], ['mesh']),
    ]);
    scene.connect('p', sidecarNode('a'));
    const { message, problems } = scene.resource('p', '80');
    const expected = [...hosts.map(host => host.toLowerCase()), 'z.com'].map(host => `${host}:80`).sort();
    expect(namesOf(message)).toEqual([...expected, 'allow_any']);
    expect(problems).toHaveLength(9);
    const few = new Scene([withHosts('v', hosts.slice(0, 9), ['mesh'])]);
    few.connect('p', sidecarNode('a'));
    const [first] = few.resource('p', '80').message.virtualHosts ?? [];
    expect(message.virtualHosts?.find(({ name }) => name === first?.name)).toEqual(first);
  });

  it('has its duplicates found in blocks', () => {
    // More than two blocks: the second VirtualService repeats hosts of the first.
    const hosts = numbered(9_000);
    const others = [...hosts.slice(5, 8_990), 'a.com', 'B.com', 'b.com'];
    const scene = new Scene([withHosts('v', hosts, ['mesh']), withHosts('w', others, ['mesh'])]);
    scene.connect('p', sidecarNode('a'));
    const [message] = sliced(scene, 'p', '80');
    const names = new Set([...hosts, ...others].map(host => `${host.toLowerCase()}:80`));
    expect(namesOf(message)).toEqual([...[...names].sort(), 'allow_any']);
    expect(scene.resource('p', '80').problems).toHaveLength(hosts.length + others.length - names.size);
  });

  it('is gone through in slices when another VirtualService changes', () => {
    const scene = new Scene([withHosts('v', numbered(COUNT), ['mesh'])]);
    scene.connect('p', sidecarNode('a'));
    sliced(scene, 'p', '80');
    scene.put(withHosts('w', ['other.example.com'], ['mesh']));
    const [made, slices] = sliced(scene, 'p', '80');
    expect(namesOf(made)).toContain('other.example.com:80');
    expect(slices).toBeGreaterThan(8);
  });

  it('is one virtual host on a gateway, with the longest hosts first', () => {
    const hosts = numbered(COUNT);
    const scene = new Scene([gateway, withHosts('v', [...hosts, '*.wild.com', '*.wilder.com'], ['a/gw'])]);
    scene.connect('g', routerNode('a'));
    const [made, slices] = sliced(scene, 'g', 'http.80');
    const lower = hosts.map(host => host.toLowerCase());
    const byText = (a: string, b: string): number => (a < b ? -1 : 1);
    const ordered = lower.sort((a, b) => b.length - a.length || byText(a, b));
    expect(made.virtualHosts).toHaveLength(1);
    expect(made.virtualHosts?.[0]?.domains).toEqual([...ordered, '*.wilder.com', '*.wild.com']);
    expect(slices).toBeGreaterThan(6);
  });

  it('is parted on a gateway by other VirtualServices of the same hosts', () => {
    const hosts = numbered(COUNT);
    const odd = hosts.filter((_, i) => i % 2 === 1);
    const scene = new Scene([gateway, withHosts('v', hosts, ['a/gw']), withHosts('w', odd, ['a/gw'])]);
    scene.connect('g', routerNode('a'));
    const { virtualHosts = [] } = scene.resource('g', 'http.80').message;
    expect(virtualHosts.map(({ domains = [], routes = [] }) => [domains.length, routes.length])).toEqual([
      [COUNT / 2, 2],
      [COUNT / 2, 1],
    ]);
  });

  it('has the routes of each of thousands of VirtualServices that share a host', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => withHosts(`v${i}`, ['one.example.com'], ['a/gw']));
    const scene = new Scene([gateway, ...many]);
    scene.connect('g', routerNode('a'));
    const iterator = Array.prototype[Symbol.iterator];
    let copied = 0;
    const patch = (value: typeof iterator): void => {
      Object.defineProperty(Array.prototype, Symbol.iterator, { value, writable: true, configurable: true });
    };
    patch(function (this: unknown[]) {
      copied += this.length;
      return iterator.call(this);
    });
    let made: VirtualHost | undefined;
    try {
      made = scene.resource('g', 'http.80').message.virtualHosts?.[0];
    } finally {
      patch(iterator);
    }
    expect(made?.routes).toHaveLength(5_000);
    expect(copied).toBeLessThan(5_000 * 100);
  });
});
