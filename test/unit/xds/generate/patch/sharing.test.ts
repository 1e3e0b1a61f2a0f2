// What a changed EnvoyFilter makes anew, and what proxies with equal patches share.

import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../../../src/core/model/resource.ts';
import type { Listener } from '../../../../../src/xds/proto/types.gen.ts';
import { clustersOf } from '../cluster/cluster-scene.ts';
import { podNode } from '../listener/scene.ts';
import { httpService } from '../route/scene.ts';
import { entry, envoyFilter, httpFilter, luaFilter, patchScene } from './patch-scene.ts';

const ofPort = (portNumber: number, code: string) =>
  entry('HTTP_FILTER', 'INSERT_FIRST', luaFilter('l', code), {
    context: 'SIDECAR_OUTBOUND',
    listener: { portNumber, filterChain: { filter: { name: 'envoy.filters.network.http_connection_manager' } } },
  });

function changed(before: readonly Resource<Listener>[], after: readonly Resource<Listener>[]): readonly string[] {
  return after.filter(listener => !before.includes(listener)).map(({ name }) => name);
}

describe('resources with patches', () => {
  it('are made anew where a changed patch acts, and nowhere else', () => {
    const scene = patchScene([httpService('more', 'prod', 7070, '10.96.0.8'), envoyFilter('a', [ofPort(8080, 'a')])]);
    const before = scene.listeners('app');
    scene.put(envoyFilter('a', [ofPort(8080, 'b')]));
    expect(changed(before, scene.listeners('app'))).toEqual(['0.0.0.0_8080']);
    scene.put(envoyFilter('a', [ofPort(8080, 'b'), ofPort(7070, 'c')]));
    expect(changed(before, scene.listeners('app'))).toEqual(['0.0.0.0_7070', '0.0.0.0_8080']);
  });

  it('stay identical when an object changes that no patch of theirs is in', () => {
    const scene = patchScene([envoyFilter('a', [ofPort(8080, 'a')])]);
    const [listeners, clusters] = [scene.listeners('app'), clustersOf(scene, 'app')];
    scene.put(envoyFilter('b', [entry('HTTP_FILTER', 'REMOVE', undefined, httpFilter('none'))]));
    scene.put(envoyFilter('c', [ofPort(8080, 'c')], { namespace: 'test' }));
    expect(changed(listeners, scene.listeners('app'))).toEqual([]);
    for (const [name, cluster] of clustersOf(scene, 'app')) expect(clusters.get(name)).toBe(cluster);
  });

  it('are shared by proxies with equal patches, in whichever object they are', () => {
    const scene = patchScene([
      envoyFilter('a', [ofPort(8080, 'a')], { more: { workloadSelector: { labels: { app: 'app' } } } }),
      envoyFilter('b', [ofPort(8080, 'a')], { more: { workloadSelector: { labels: { app: 'other' } } } }),
    ]);
    scene.connect('other', podNode('other', 'prod', '10.1.0.8', { LABELS: { app: 'other' } }));
    const found = ['app', 'other'].map(one => scene.listenerResource(one, '0.0.0.0_8080'));
    expect(found[0]).toBe(found[1]);
    expect(JSON.stringify(found[0])).toContain('lua.v3.Lua');
  });

  it('come back identical when the patch is gone', () => {
    const scene = patchScene([]);
    const before = scene.listenerResource('app', '0.0.0.0_8080');
    scene.put(envoyFilter('a', [ofPort(8080, 'a')]));
    expect(scene.listenerResource('app', '0.0.0.0_8080')).not.toBe(before);
    scene.put(envoyFilter('a', []));
    expect(scene.listenerResource('app', '0.0.0.0_8080')).toBe(before);
  });
});
