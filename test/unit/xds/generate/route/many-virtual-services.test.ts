// More VirtualServices than are gone through for each port of sidecars.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { SliceGrowth } from '../../../../../src/core/query/slice-growth.ts';
import { sidecarVirtualHosts } from '../../../../../src/core/select/route/sidecar-virtual-hosts.ts';
import { httpService, istio, Scene, sidecarNode } from './scene.ts';

const COUNT = 1_024;
const on = (name: string, ...hosts: readonly string[]): JsonObject =>
  istio('VirtualService', 'a', name, { hosts: [...hosts], http: [{ route: [{ destination: { host: 'shop' } }] }] });
const others = (count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, i) => on(`o${i}`, `o${i}.example.com`, `*.o${i}.example.com`));
const services = [httpService('shop', 'a', 8080, '10.96.0.1'), httpService('cart', 'a', 9090, '10.96.0.2')];
const some = [
  on('m-exact', 'Shop.A.svc.cluster.local', 'shop.a.svc.cluster.local.example.com'),
  on('n-twice', 'cart', 'shop'),
  on('p-wild', '*.svc.cluster.local'),
];

function sceneOf(objects: readonly JsonObject[]): Scene {
  const scene = new Scene(objects);
  scene.connect('p', sidecarNode('a'));
  return scene;
}

describe('thousands of VirtualServices', () => {
  it('leave a port the hosts that those with a service there give it, in their order', () => {
    const few = sceneOf([...services, ...some]);
    const many = sceneOf([...services, ...others(COUNT / 2), ...some, ...others(COUNT).slice(COUNT / 2)]);
    for (const port of ['8080', '9090']) expect(many.route('p', port)).toEqual(few.route('p', port));
    const names = many.route('p', '80').virtualHosts?.map(({ name }) => name) ?? [];
    expect(names.filter(name => name?.startsWith('o'))).toHaveLength(COUNT);
    expect(names).toContain('*.o7.example.com:80');
  });

  it('are gone through in blocks, which are found again when the work was interrupted', () => {
    const scene = sceneOf([...services, ...others(COUNT)]);
    const proxy = scene.state.proxies.get('p')!;
    scene.tracker.get(scene.state, proxy, sidecarVirtualHosts, '9090');
    const growth = new SliceGrowth();
    let found = 0;
    const look = () =>
      scene.tracker.within(growth.budget(80), () => ({
        made: scene.tracker.get(scene.state, proxy, sidecarVirtualHosts, '80'),
      }));
    for (let slice = look(); slice.value === undefined; slice = look()) {
      found += slice.found;
      growth.cut(slice);
    }
    expect(found).toBeLessThan(600);
  });
});
