// Which patches a proxy has, and in which order they act.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { hcm } from '../listener/scene.ts';
import { entry, envoyFilter, type FilterOptions, httpFilter, luaFilter, patchScene } from './patch-scene.ts';

/** Adds a filter of its own name behind the router. */
const adding = (name: string, options: FilterOptions = {}): JsonObject =>
  envoyFilter(name, [entry('HTTP_FILTER', 'ADD', luaFilter(name), { context: 'SIDECAR_OUTBOUND' })], options);

/** Names of the HTTP filters that patches added, in the listener of `shop`. */
function added(filters: readonly JsonObject[], metadata: JsonObject = {}): readonly string[] {
  const names = (hcm(patchScene(filters, metadata).chains('app', '0.0.0.0_8080')[0]).httpFilters ?? []).map(
    ({ name }) => name ?? '',
  );
  return names.slice(names.indexOf('envoy.filters.http.router') + 1);
}

const matching = (proxy: JsonObject): JsonObject =>
  envoyFilter('matching', [entry('HTTP_FILTER', 'ADD', luaFilter('matching'), { context: 'SIDECAR_OUTBOUND', proxy })]);

describe('the order of EnvoyFilters', () => {
  it('is by priority, before namespaces', () => {
    const filters = [
      adding('late', { priority: 1 }),
      adding('root', { namespace: 'istio-system' }),
      adding('first', { priority: -1 }),
      adding('own'),
    ];
    expect(added(filters)).toEqual(['first', 'root', 'own', 'late']);
  });

  it('is by age, then by name and namespace joined by a dot', () => {
    const filters = [adding('ef'), adding('ef-2'), adding('a', { created: '2026-02-01T00:00:00Z' })];
    expect(added(filters)).toEqual(['ef-2', 'ef', 'a']);
  });

  it('does not remove with a lower number what a higher one adds', () => {
    const remove = envoyFilter('remove', [entry('HTTP_FILTER', 'REMOVE', undefined, httpFilter('own'))], {
      priority: 1,
    });
    expect(added([remove, adding('own', { priority: 2 })])).toEqual(['own']);
    expect(added([remove, adding('own', { priority: 0 })])).toEqual([]);
  });

  it('merges into what a later patch adds', () => {
    const merge = envoyFilter('merge', [entry('HTTP_FILTER', 'MERGE', { name: 'renamed' }, httpFilter('own'))], {
      priority: -100,
    });
    expect(added([merge, adding('own', { priority: 10 })])).toEqual(['renamed']);
  });
});

describe('an EnvoyFilter', () => {
  it('acts in its namespace alone, unless it is in the root namespace', () => {
    expect(added([adding('elsewhere', { namespace: 'test' })])).toEqual([]);
    const more = { workloadSelector: { labels: { app: 'app' } } };
    expect(added([adding('selected', { namespace: 'istio-system', more })])).toEqual(['selected']);
    const others = { workloadSelector: { labels: { app: 'other' } } };
    expect(added([adding('others', { namespace: 'istio-system', more: others })])).toEqual([]);
  });

  it('with target references does not act on a sidecar', () => {
    const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge' }];
    expect(added([adding('edge', { more: { targetRefs } })])).toEqual([]);
  });

  it.each<[string, string | undefined, boolean]>([
    ['^1\\.2', '1.30.3', false],
    ['30', '1.30.3', true],
    ['^1\\.30.*', '1.30.3', true],
    ['.*', undefined, false],
  ])('for the version %s acts on %s: %s', (proxyVersion, version, acts) => {
    expect(added([matching({ proxyVersion })], { ISTIO_VERSION: version })).toEqual(acts ? ['matching'] : []);
  });

  it.each<[string, JsonObject, boolean]>([
    ['equal text', { KEY: 'a' }, true],
    ['other text', { KEY: 'b' }, false],
    ['no text', {}, false],
    ['a boolean', { KEY: true }, false],
  ])('for metadata acts on %s: %s', (_, metadata, acts) => {
    expect(added([matching({ metadata: { KEY: 'a' } })], metadata)).toEqual(acts ? ['matching'] : []);
  });

  it('for empty metadata acts on an empty text, not on a missing key', () => {
    expect(added([matching({ metadata: { KEY: '' } })], { KEY: '' })).toEqual(['matching']);
    expect(added([matching({ metadata: { KEY: '' } })])).toEqual([]);
  });
});
