// Which patches of which EnvoyFilters a proxy has, in which order, and what each of them is for.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import type { EnvoyPatch, PatchContext } from '../../../../../src/core/select/patch/envoy-patch.ts';
import {
  addedClusters,
  addedListeners,
  clusterPatches,
  extensionPatches,
  listenerPatches,
  proxyPatches,
  routePatches,
} from '../../../../../src/core/select/patch/proxy-patches.ts';
import { referencedServices } from '../../../../../src/core/select/patch/referenced-services.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';

const entry = (applyTo: string, operation: string, name: string, match: JsonObject = {}): JsonObject => ({
  applyTo,
  match,
  patch: { operation, ...(operation === 'REMOVE' ? {} : { value: { name } }) },
});

interface Options {
  readonly namespace?: string;
  readonly day?: number;
  readonly priority?: number;
  readonly labels?: JsonObject;
  readonly annotations?: JsonObject;
  readonly targetRefs?: readonly JsonObject[];
}

function filter(name: string, configPatches: readonly JsonObject[], options: Options = {}): JsonObject {
  const { namespace = 'shop', day = 1, priority, labels, annotations = {}, targetRefs } = options;
  return {
    apiVersion: 'networking.istio.io/v1alpha3',
    kind: 'EnvoyFilter',
    metadata: { name, namespace, annotations, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
    spec: {
      configPatches,
      ...(priority === undefined ? {} : { priority }),
      ...(labels && { workloadSelector: { labels } }),
      ...(targetRefs && { targetRefs }),
    },
  };
}

const one = [entry('CLUSTER', 'ADD', 'c')];
const proxy = (metadata: JsonObject = {}, labels: Readonly<Record<string, string>> = { app: 'web' }) =>
  proxyOf(nodeOf({ namespace: 'shop', labels, metadata }));
const patches = (objects: readonly JsonObject[], of = proxy()): readonly string[] =>
  ask(world(objects), proxyPatches, '', of).map(({ filter: key, index }) => `${key} ${index}`);

describe('an EnvoyFilter with many patches', () => {
  const many = (count: number) =>
    world([
      filter(
        'many',
        Array.from({ length: count }, (_, i) => entry('CLUSTER', 'ADD', `c${i}`)),
      ),
    ]);

  it('has them read in blocks, in order', () => {
    const read = (count: number) => {
      const tracker = new Tracker();
      const found = tracker.get(many(count), proxy(), proxyPatches, '');
      expect(found.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, i) => i));
      expect(found.map(({ patch }) => patch.value.name)).toEqual(Array.from({ length: count }, (_, i) => `c${i}`));
      return tracker.stats.runs;
    };
    expect(read(640) - read(256)).toBe(640 / 64);
  });

  it('has the text of a large one made in a run of its own', () => {
    const made = (members: number): number => {
      const metadata = Object.fromEntries(Array.from({ length: members }, (_, i) => [`k${i}`, { a: i }]));
      const value = { name: 'c', metadata: { filterMetadata: metadata } };
      const tracker = new Tracker();
      const state = world([filter('large', [{ applyTo: 'CLUSTER', match: {}, patch: { operation: 'MERGE', value } }])]);
      expect(tracker.get(state, proxy(), proxyPatches, '')[0]!.patch.value).toEqual(value);
      return tracker.stats.generated;
    };
    expect(made(2_000) - made(100)).toBe(1);
  });
});

describe('the EnvoyFilters of a proxy', () => {
  it('are those of its namespace and of the root namespace that select it', () => {
    const objects = [
      filter('all', one),
      filter('web', one, { labels: { app: 'web' } }),
      filter('other', one, { labels: { app: 'other' } }),
      filter('far', one, { namespace: 'far' }),
      filter('mesh', one, { namespace: 'istio-system' }),
    ];
    expect(patches(objects)).toEqual(['istio-system/mesh 0', 'shop/all 0', 'shop/web 0']);
  });

  it('are attached to a gateway by reference, too', () => {
    const ref = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw' };
    const objects = [filter('a', one, { targetRefs: [ref] })];
    expect(patches(objects, proxy({}, { 'gateway.networking.k8s.io/gateway-name': 'gw' }))).toEqual(['shop/a 0']);
    expect(patches(objects)).toEqual([]);
  });

  it('come by priority, then the root namespace, then by age, then by name', () => {
    const objects = [
      filter('late', one, { priority: 1, namespace: 'istio-system' }),
      filter('first', one, { priority: -1 }),
      filter('b', one, { day: 2 }),
      filter('a', one, { day: 2 }),
      filter('old', one, { day: 1 }),
      filter('mesh', one, { namespace: 'istio-system', day: 3 }),
    ];
    expect(patches(objects)).toEqual([
      'shop/first 0',
      'istio-system/mesh 0',
      'shop/old 0',
      'shop/a 0',
      'shop/b 0',
      'istio-system/late 0',
    ]);
  });

  it('name the services that the proxy needs', () => {
    const names = 'envoyfilter.istio.io/referenced-services';
    const objects = [
      filter('a', one, { annotations: { [names]: 'x.com,shop/y.com' } }),
      filter('b', one, { annotations: { [names]: 'z.com' }, labels: { app: 'other' } }),
    ];
    expect(ask(world(objects), referencedServices, '', proxy())).toEqual(['x.com', 'shop/y.com']);
  });
});

describe('an entry of an EnvoyFilter', () => {
  const matched = (match: JsonObject, metadata: JsonObject = {}): boolean =>
    patches([filter('a', [entry('CLUSTER', 'ADD', 'c', { proxy: match })])], proxy(metadata)).length > 0;

  it.each<[string, JsonObject, boolean]>([
    ['^1\\.30.*', { ISTIO_VERSION: '1.30.3' }, true],
    ['1\\.30', { ISTIO_VERSION: 'v1.30.3' }, true],
    ['^1\\.29.*', { ISTIO_VERSION: '1.30.3' }, false],
    ['.*', {}, false],
    ['.*', { ISTIO_VERSION: '' }, false],
    ['.*', { ISTIO_VERSION: 1 }, false],
  ])('for the version %s is for a proxy of %j: %s', (proxyVersion, metadata, expected) => {
    expect(matched({ proxyVersion }, metadata)).toBe(expected);
  });

  it('for metadata is for proxies with all of it', () => {
    const metadata = { A: 'a', B: 'b' };
    expect(matched({ metadata }, metadata)).toBe(true);
    expect(matched({ metadata }, { A: 'a' })).toBe(false);
    expect(matched({ metadata: { A: 'b' } }, metadata)).toBe(false);
    expect(matched({}, {})).toBe(true);
  });

  it('meets its own version, whatever others ask for', () => {
    const forVersion = (proxyVersion: string) => entry('CLUSTER', 'ADD', 'c', { proxy: { proxyVersion } });
    const entries = ['^1\\.29', '^1\\.30', '^1\\.31', ''].map(forVersion);
    expect(patches([filter('a', entries)], proxy({ ISTIO_VERSION: '1.30.3' }))).toEqual(['shop/a 1', 'shop/a 3']);
  });

  it('acts on every proxy without a match, and on none if it is for a waypoint and has no patch', () => {
    const { match: _, ...all } = entry('CLUSTER', 'ADD', 'c');
    const waypoint = { match: { context: 'WAYPOINT', waypoint: {} } };
    expect(patches([filter('a', [waypoint, { ...waypoint, applyTo: 'CLUSTER', patch: {} }, all])])).toEqual([
      'shop/a 2',
    ]);
    expect(patches([{ ...filter('a', []), spec: {} }])).toEqual([]);
  });

  it('counts by its place among the others', () => {
    expect(patches([filter('a', [entry('CLUSTER', 'REMOVE', ''), entry('CLUSTER', 'ADD', 'c')])])).toEqual([
      'shop/a 0',
      'shop/a 1',
    ]);
  });
});

const namesOf = (found: readonly EnvoyPatch[] | undefined): readonly unknown[] | undefined =>
  found?.map(({ operation, value }) => (value as { readonly name?: string }).name ?? operation);
const CONTEXTS: readonly PatchContext[] = ['SIDECAR_INBOUND', 'SIDECAR_OUTBOUND', 'GATEWAY'];
const inContext = (context: string): JsonObject => ({ context });

describe('clusters', () => {
  const state = world([
    filter('a', [
      entry('CLUSTER', 'ADD', 'any'),
      entry('CLUSTER', 'INSERT_FIRST', 'gateway', inContext('GATEWAY')),
      entry('CLUSTER', 'ADD', 'inbound', inContext('SIDECAR_INBOUND')),
      entry('CLUSTER', 'MERGE', 'merged'),
      entry('CLUSTER', 'REMOVE', '', inContext('GATEWAY')),
      entry('LISTENER', 'ADD', 'listener'),
    ]),
  ]);

  it('are added once to a proxy if no context is given', () => {
    expect(CONTEXTS.map(context => namesOf(ask(state, addedClusters, context, proxy())))).toEqual([
      ['inbound'],
      ['any'],
      ['any', 'gateway'],
    ]);
  });

  it('are changed in the context that is given, or in all', () => {
    expect(CONTEXTS.map(context => namesOf(ask(state, clusterPatches, context, proxy())?.patches))).toEqual([
      ['merged'],
      ['merged'],
      ['merged', 'REMOVE'],
    ]);
    expect(ask(world([filter('a', one)]), clusterPatches, 'GATEWAY', proxy())).toBeUndefined();
  });
});

describe('listeners', () => {
  it('have patches of their own and of their parts; those that are added are apart', () => {
    const kinds = ['LISTENER', 'LISTENER_FILTER', 'FILTER_CHAIN', 'NETWORK_FILTER', 'HTTP_FILTER'];
    const entries = kinds.map(kind => entry(kind, 'MERGE', kind, inContext('SIDECAR_INBOUND')));
    const added = [entry('LISTENER', 'ADD', 'added'), entry('CLUSTER', 'ADD', 'c')];
    const state = world([filter('a', [...entries, ...added])]);
    const found = ask(state, listenerPatches, 'SIDECAR_INBOUND', proxy())!;
    expect(Object.values(found).map(namesOf)).toEqual(kinds.map(kind => [kind]));
    expect(ask(state, listenerPatches, 'SIDECAR_OUTBOUND', proxy())).toBeUndefined();
    expect(CONTEXTS.map(context => namesOf(ask(state, addedListeners, context, proxy())))).toEqual([
      [],
      ['added'],
      ['added'],
    ]);
  });
});

it('one kind of patch is enough for listeners and for routes', () => {
  const listeners = (applyTo: string) =>
    ask(world([filter('a', [entry(applyTo, 'MERGE', 'x')])]), listenerPatches, 'SIDECAR_OUTBOUND', proxy());
  expect(Object.values(listeners('HTTP_FILTER')!).map(list => list.length)).toEqual([0, 0, 0, 0, 1]);
  expect(listeners('HTTP_ROUTE')).toBeUndefined();
  const routes = (applyTo: string) =>
    ask(world([filter('a', [entry(applyTo, 'MERGE', 'x')])]), routePatches, 'SIDECAR_OUTBOUND', proxy());
  expect(Object.values(routes('HTTP_ROUTE')!).map(list => list.length)).toEqual([0, 0, 1]);
  expect(routes('HTTP_FILTER')).toBeUndefined();
});

describe('routes', () => {
  it('have patches of the configuration, of which merging alone acts, and of its parts', () => {
    const kinds = ['ROUTE_CONFIGURATION', 'VIRTUAL_HOST', 'HTTP_ROUTE'];
    const entries = kinds.map(kind => entry(kind, 'MERGE', kind, inContext('GATEWAY')));
    const removed = entry('ROUTE_CONFIGURATION', 'REMOVE', '', inContext('GATEWAY'));
    const state = world([filter('a', [...entries, removed])]);
    expect(Object.values(ask(state, routePatches, 'GATEWAY', proxy())!).map(namesOf)).toEqual(
      kinds.map(kind => [kind]),
    );
    expect(ask(state, routePatches, 'SIDECAR_OUTBOUND', proxy())).toBeUndefined();
    expect(ask(world([filter('a', [removed])]), routePatches, 'GATEWAY', proxy())).toBeUndefined();
  });
});

it('extension configurations are added whatever their context', () => {
  const entries = ['ADD', 'INSERT_FIRST', 'MERGE'].map(operation =>
    entry('EXTENSION_CONFIG', operation, operation, inContext('SIDECAR_INBOUND')),
  );
  expect(namesOf(ask(world([filter('a', [...entries, ...one])]), extensionPatches, '', proxy()))).toEqual([
    'ADD',
    'INSERT_FIRST',
  ]);
});

it('insertions stay what they are where parts have an order', () => {
  const operations = (applyTo: string) =>
    ask(world([filter('a', [entry(applyTo, 'INSERT_FIRST', 'x')])]), proxyPatches, '', proxy()).map(
      ({ patch }) => patch.operation,
    );
  for (const applyTo of ['HTTP_FILTER', 'NETWORK_FILTER', 'HTTP_ROUTE', 'LISTENER_FILTER']) {
    expect(operations(applyTo)).toEqual(['INSERT_FIRST']);
  }
  for (const applyTo of ['VIRTUAL_HOST', 'FILTER_CHAIN']) expect(operations(applyTo)).toEqual(['ADD']);
});
