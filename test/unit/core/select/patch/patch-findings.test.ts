// What authors of EnvoyFilters are told without a look at a proxy.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { patchFindings } from '../../../../../src/core/select/patch/patch-findings.ts';
import { ask, put, world } from '../../../world.ts';

const HCM = 'envoy.filters.network.http_connection_manager';

const filter = (...configPatches: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'networking.istio.io/v1alpha3',
  kind: 'EnvoyFilter',
  metadata: { name: 'f', namespace: 'shop' },
  spec: { configPatches },
});
const entry = (applyTo: string, operation: string, match: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  applyTo,
  match,
  patch: { operation, ...(operation === 'REMOVE' ? {} : { value: { name: 'x' } }), ...more },
});
const found = (...entries: readonly JsonObject[]): readonly string[] =>
  ask(world([filter(...entries)]), patchFindings, '').map(({ key, path, message }) => `${key} ${path}: ${message}`);
const at = (path: string, message: string): string => `shop/f spec.configPatches[0]${path}: ${message}`;
const chain = (filterChain: JsonObject): JsonObject => ({ listener: { filterChain } });

describe('an entry of an EnvoyFilter tells nothing', () => {
  it.each<[string, string, JsonObject]>([
    ['CLUSTER', 'MERGE', {}],
    ['VIRTUAL_HOST', 'ADD', {}],
    ['ROUTE_CONFIGURATION', 'MERGE', {}],
    ['EXTENSION_CONFIG', 'ADD', {}],
    ['HTTP_FILTER', 'INSERT_BEFORE', {}],
    ['HTTP_FILTER', 'REMOVE', chain({ filter: { name: HCM, subFilter: { name: 'b' } } })],
    ['NETWORK_FILTER', 'REPLACE', chain({ filter: { name: 'a' } })],
    ['LISTENER_FILTER', 'MERGE', { listener: { listenerFilter: 'a' } }],
    ['HTTP_FILTER', 'MERGE', {}],
    ['LISTENER_FILTER', 'ADD', {}],
    ['LISTENER_FILTER', 'INSERT_FIRST', {}],
    ['NETWORK_FILTER', 'MERGE', {}],
    ['VIRTUAL_HOST', 'REMOVE', {}],
    ['CLUSTER', 'REMOVE', {}],
  ])('that changes a %s by %s where %j', (applyTo, operation, match) => {
    expect(found(entry(applyTo, operation, match))).toEqual([]);
  });
});

describe('an EnvoyFilter tells nothing', () => {
  it('that has no entries, or entries without a match which act', () => {
    expect(found()).toEqual([]);
    expect(ask(world([{ ...filter(), spec: {} }]), patchFindings, '')).toEqual([]);
    const { match: _, ...all } = entry('CLUSTER', 'MERGE');
    expect(found(all)).toEqual([]);
  });
});

it('an entry that is refused tells nothing here while the others of its object act', () => {
  const refused: JsonObject = { applyTo: 'CLUSTER', patch: { operation: 'ADD' } };
  const { state } = put(world([]), filter(refused, entry('CLUSTER', 'REPLACE')));
  expect(ask(state, patchFindings, '').map(({ path }) => path)).toEqual(['spec.configPatches[1].patch.operation']);
});

describe('an entry of an EnvoyFilter for a waypoint tells just that', () => {
  it.each<JsonObject>([
    {},
    { applyTo: 'CLUSTER' },
    { applyTo: 'CLUSTER', patch: {} },
    { applyTo: 'CLUSTER', patch: { operation: 'MERGE' } },
    { applyTo: 'INVALID', patch: { operation: 'ADD', value: { name: 'x' } } },
    { patch: { operation: 'ADD', value: { name: 'x' } } },
    { patch: { operation: 'REMOVE' } },
  ])('whatever it lacks: %j', one => {
    expect(found({ match: { context: 'WAYPOINT', waypoint: {} }, ...one })).toEqual([
      at('.match.context', 'a patch for WAYPOINT acts on no proxy'),
    ]);
  });
});

describe('an entry of an EnvoyFilter tells that its operation has no effect', () => {
  it.each([
    ['ROUTE_CONFIGURATION', 'ADD'],
    ['ROUTE_CONFIGURATION', 'REMOVE'],
    ['EXTENSION_CONFIG', 'MERGE'],
    ['LISTENER', 'REPLACE'],
    ['FILTER_CHAIN', 'REPLACE'],
    ['CLUSTER', 'REPLACE'],
    ['HTTP_ROUTE', 'REPLACE'],
  ])('on %s: %s', (applyTo, operation) => {
    expect(found(entry(applyTo, operation))).toEqual([
      at('.patch.operation', `${operation} has no effect on ${applyTo}`),
    ]);
  });

  it.each<[string, string, JsonObject]>([
    ['HTTP_FILTER', 'REMOVE', chain({ filter: { name: 'a' } })],
    ['HTTP_FILTER', 'REPLACE', {}],
    ['NETWORK_FILTER', 'REMOVE', chain({})],
    ['NETWORK_FILTER', 'REMOVE', {}],
    ['HTTP_FILTER', 'REMOVE', chain({})],
    ['HTTP_FILTER', 'REMOVE', { listener: {} }],
    ['LISTENER_FILTER', 'REMOVE', {}],
    ['LISTENER_FILTER', 'MERGE', {}],
    ['LISTENER_FILTER', 'REMOVE', { listener: { listenerFilter: '' } }],
  ])('on a %s without a name: %s with %j', (applyTo, operation, match) => {
    expect(found(entry(applyTo, operation, match))).toEqual([
      at('.match', `${operation} of a ${applyTo} has no effect unless the match names one`),
    ]);
  });
});

describe('an entry of an EnvoyFilter tells', () => {
  it.each<[JsonObject, string, string]>([
    [
      entry('CLUSTER', 'ADD', { context: 'WAYPOINT', waypoint: {} }),
      '.match.context',
      'a patch for WAYPOINT acts on no proxy',
    ],
    [
      entry('BOOTSTRAP', 'MERGE', {}, { value: {} }),
      '.applyTo',
      'the bootstrap of a proxy is not patched by a control plane',
    ],
    [entry('LISTENER', 'MERGE', { listener: { portName: 'p' } }), '.match.listener.portName', 'is not read'],
    [entry('HTTP_FILTER', 'INSERT_BEFORE', {}, { filterClass: 'AUTHN' }), '.patch.filterClass', 'is not read'],
    [
      entry('HTTP_FILTER', 'ADD'),
      '.patch.operation',
      'ADD puts the filter behind the router, where it never acts: use INSERT_BEFORE',
    ],
    [
      entry('CLUSTER', 'MERGE', {}, { value: { name: 'x', nonsense: 1 } }),
      '.patch.value.nonsense',
      'is no field of the message and is passed over',
    ],
  ])('of %j', (one, path, message) => {
    expect(found(one)).toEqual([at(path, message)]);
  });

  it('that it names no filter if it has no match', () => {
    for (const applyTo of ['HTTP_FILTER', 'NETWORK_FILTER', 'LISTENER_FILTER']) {
      const { match: _, ...all } = entry(applyTo, 'REMOVE');
      expect(found(all)).toEqual([at('.match', `REMOVE of a ${applyTo} has no effect unless the match names one`)]);
    }
  });

  it('its place among the others', () => {
    const [first] = found(entry('CLUSTER', 'MERGE'), entry('CLUSTER', 'REPLACE'));
    expect(first).toBe('shop/f spec.configPatches[1].patch.operation: REPLACE has no effect on CLUSTER');
  });

  it('nothing of a filter class that is not given', () => {
    expect(found(entry('HTTP_FILTER', 'INSERT_BEFORE', {}, { filterClass: 'UNSPECIFIED' }))).toEqual([]);
  });

  const OWN = "is a filter of Istio's own, which other releases name differently or leave out";
  const OLDER = 'is an older name that matches no filter: expected envoy.filters.…';
  it.each<[string, string | undefined]>([
    ['istio.stats', OWN],
    ['istio_authn', OWN],
    ['my.istio.stats', undefined],
    ['envoy.router', OLDER],
    ['envoy.http_connection_manager', OLDER],
    ['envoy.filters.http.router', undefined],
    ['my.envoy.router', undefined],
  ])('that the name %s is of another release: %s', (name, message) => {
    const expected = (path: string) => (message === undefined ? [] : [at(path, `${name} ${message}`)]);
    const filterAt = '.match.listener.filterChain.filter';
    expect(found(entry('NETWORK_FILTER', 'REMOVE', chain({ filter: { name } })))).toEqual(expected(`${filterAt}.name`));
    expect(found(entry('HTTP_FILTER', 'REMOVE', chain({ filter: { name: HCM, subFilter: { name } } })))).toEqual(
      expected(`${filterAt}.subFilter.name`),
    );
    expect(found(entry('LISTENER_FILTER', 'REMOVE', { listener: { listenerFilter: name } }))).toEqual(
      expected('.match.listener.listenerFilter'),
    );
  });
});
