// Keys of wide objects: listed once on the whole way of a fact, and nothing is read otherwise for them than for small
// ones.

import { describe, expect, test } from 'vitest';
import { canonicalJson, type Json, type JsonObject, jsonEqual } from '../../../../src/core/base/json.ts';
import { listKeys, sortedKeysOf, WIDE_MIN } from '../../../../src/core/base/keys.ts';
import type { Unrecorded } from '../../../../src/core/event.ts';
import type { Obj } from '../../../../src/core/model/object.ts';
import { foldFacts } from '../../../../src/offline/generate.ts';

const wide = (first = 0): Record<string, string> =>
  Object.fromEntries(Array.from({ length: WIDE_MIN }, (_, i) => [`k${i + first}.istio.io/x`, `v${i}`]));

/** An object that counts how often its keys are listed. */
function counted(members: JsonObject): { readonly object: JsonObject; readonly lists: () => number } {
  let lists = 0;
  const object = new Proxy(members, {
    ownKeys: target => {
      lists++;
      return Reflect.ownKeys(target);
    },
  });
  return { object, lists: () => lists };
}

const add = (object: JsonObject): Unrecorded => ({ source: 'file/Kubernetes', kind: 'Add', object }) as Unrecorded;

function virtualService(metadata: JsonObject, route: JsonObject): JsonObject {
  const http = [{ route: [{ destination: { host: 's' } }], ...route }];
  const meta = { name: 'v', namespace: 'a', ...metadata };
  return { apiVersion: 'networking.istio.io/v1', kind: 'VirtualService', metadata: meta, spec: { hosts: ['s'], http } };
}

describe('the keys of a wide object are listed once by a fold', () => {
  const wides: Readonly<Record<string, (members: JsonObject) => JsonObject>> = {
    labels: labels => virtualService({ labels }, {}),
    annotations: annotations => virtualService({ annotations }, {}),
    'headers of a match': headers => virtualService({}, { match: [{ headers }] }),
    'labels of a match': sourceLabels => virtualService({}, { match: [{ sourceLabels }] }),
    'headers that are added': headers => virtualService({}, { headers: { request: { add: headers } } }),
  };

  test.each(Object.entries(wides))('%s', (name, objectOf) => {
    const members: JsonObject =
      name === 'headers of a match'
        ? Object.fromEntries(Object.keys(wide()).map(key => [key.replace('/', '-'), { exact: 'x' }]))
        : wide();
    const { object, lists } = counted(members);
    const { effects } = foldFacts([add(objectOf(object))]);
    expect(effects.filter(({ kind }) => kind === 'Verdict')).toEqual([]);
    expect(lists()).toBe(1);
  });

  test('and by the comparison of two versions that stand in a state', () => {
    const [one, other] = [counted(wide()), counted(wide())];
    const { state } = foldFacts([add(virtualService({ labels: one.object }, {}))]);
    foldFacts([add(virtualService({ labels: other.object, generation: 2 }, {}))], state);
    expect([one.lists(), other.lists()]).toEqual([1, 1]);
  });
});

test('labels in order are kept as they came', () => {
  const keys = Object.keys(wide()).sort();
  const labels = Object.fromEntries(keys.map(key => [key, 'x']));
  const { state } = foldFacts([add(virtualService({ labels }, { match: [{ sourceLabels: labels }] }))]);
  const [object] = [...state.objects.VirtualService.values()] as Obj<'VirtualService'>[];
  expect(object!.labels).toBe(labels);
  expect(object!.spec.http![0]!.match![0]!.sourceLabels).toBe(labels);
});

test('labels in another order are sorted', () => {
  const { state } = foldFacts([add(virtualService({}, { match: [{ sourceLabels: wide() }] }))]);
  const [object] = [...state.objects.VirtualService.values()] as Obj<'VirtualService'>[];
  expect(Object.keys(object!.spec.http![0]!.match![0]!.sourceLabels!)).toEqual(Object.keys(wide()).sort());
});

describe('wide objects are equal when their texts are', () => {
  const own = JSON.parse('{"__proto__":{}}') as JsonObject;
  const variants: Readonly<Record<string, Json>> = {
    itself: wide(),
    'in another order': Object.fromEntries(Object.entries(wide()).reverse()),
    'with another member': { ...wide(), more: 'x' },
    'with a member that is undefined': { ...wide(), more: undefined },
    'with another value': { ...wide(), 'k7.istio.io/x': 'w' },
    'with other keys': wide(1),
    'with a prototype of its own': Object.assign(own, wide()),
    'with a constructor': { ...wide(), constructor: 'x' },
    'with as many members': [],
  };

  test.each(Object.keys(variants))('%s', name => {
    for (const other of Object.values(variants)) {
      const one = variants[name]!;
      if (typeof one === 'object' && one !== null) listKeys(one);
      expect(jsonEqual(one, other)).toBe(canonicalJson(one) === canonicalJson(other));
    }
  });
});

test('keys are sorted by UTF-16 code unit, however many there are', () => {
  for (const count of [3, 30, WIDE_MIN, 2 * WIDE_MIN]) {
    const object = Object.fromEntries(Array.from({ length: count }, (_, i) => [`é${(i * 7) % count}`, i]));
    const sorted = Object.keys(object).sort();
    expect(sortedKeysOf(object)).toEqual(sorted);
    listKeys(object);
    expect(sortedKeysOf(object)).toEqual(sorted);
    expect(sortedKeysOf(object)).toEqual(sorted);
  }
});

test('the place of a problem names the keys of maps on the way', () => {
  const bad = { ...wide(), 'k9.istio.io/x': 7 };
  const { effects } = foldFacts([
    add(virtualService({}, { match: [{ sourceLabels: bad, headers: { 'x.y[0]': { exact: 7 } } }] })),
  ]);
  const paths = effects.flatMap(effect => (effect.kind === 'Verdict' ? effect.problems.map(({ path }) => path) : []));
  expect(paths).toContain('spec.http[0].match[0].sourceLabels[k9.istio.io/x]');
  expect(paths).toContain('spec.http[0].match[0].headers[x.y[0]].exact');
});
