// No value of a Secret is stored in the clear, shown or quoted, wherever in the Secret it stands and however malformed
// that is.

import { describe, expect, it } from 'vitest';
import { parseFile } from '../../../src/adapters/file/parse.ts';
import { canonicalJson, type Json, type JsonObject } from '../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { mapPrivate, SEALED_APART_MAX } from '../../../src/journal/private-values.ts';
import { SEALED_IN_TEXT, SEALED_VALUES_MAX } from '../../../src/journal/vault.ts';
import { findingsOf } from '../../../src/offline/findings.ts';
import { foldFacts } from '../../../src/offline/generate.ts';
import { all } from './helpers.ts';

const VALUE = 'hunter2';

const secretWith = (members: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'own', namespace: 'default', ...metadata },
  ...members,
});

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** A Secret for each position at which a value may stand, most of them wrong. */
const positions: readonly (readonly [string, JsonObject])[] = [
  ['data', secretWith({ data: { key: VALUE } })],
  ['data, no base64', secretWith({ data: { key: `${VALUE}!"${VALUE}` } })],
  ['data, a map too deep', secretWith({ data: { key: { inner: VALUE } } })],
  ['data, a list', secretWith({ data: [VALUE] })],
  ['data, a text', secretWith({ data: VALUE })],
  ['stringData', secretWith({ stringData: { key: VALUE } })],
  ['stringData, a list', secretWith({ stringData: { key: [VALUE] } })],
  ['stringData, a text', secretWith({ stringData: VALUE })],
  ['Data', secretWith({ Data: { key: VALUE } })],
  ['a member that Secrets do not have', secretWith({ spec: { data: { key: [VALUE] } } })],
  [
    'metadata.annotations',
    secretWith({}, { annotations: { [LAST_APPLIED]: canonicalJson(secretWith({ data: { a: VALUE } })) } }),
  ],
  ['metadata.managedFields', secretWith({}, { managedFields: [{ manager: 'x', fieldsV1: { 'f:data': VALUE } }] })],
];

const added = (object: JsonObject): Unrecorded => ({ source: 'file/Kubernetes', kind: 'Add', object });

it.each(positions)('a value in %s is stored sealed, and read as it was', async (_, object) => {
  const journal = await openMemoryJournal({ clock: () => 1 });
  await journal.append([added(object)]);
  const [stored] = await all(journal.records({ from: 1 }));
  expect(stored?.body).not.toContain(VALUE);
  const [redacted] = await all(journal.records({ from: 1, secrets: 'redacted' }));
  expect(redacted?.body).not.toContain(VALUE);
  expect(await all(journal.read({ from: 1 }))).toMatchObject([{ object }]);
});

describe('parts of a Secret with thousands of members', () => {
  const MANY = SEALED_APART_MAX + 1;
  const map = (count: number, value: string): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));
  const managed = (count: number): Json[] =>
    Array.from({ length: count }, () => ({ manager: 'x', fieldsV1: { 'f:data': VALUE } }));
  const parts: readonly (readonly [string, (count: number) => JsonObject])[] = [
    ['data', count => secretWith({ data: map(count, VALUE) })],
    ['stringData', count => secretWith({ stringData: map(count, VALUE) })],
    ['annotations', count => secretWith({}, { annotations: map(count, `{"a":"${VALUE}"}`) })],
    ['managedFields', count => secretWith({}, { managedFields: managed(count) })],
  ];

  it.each(parts)('are sealed as one: %s', async (_, secret) => {
    for (const [count, sealed] of [
      [SEALED_APART_MAX, SEALED_APART_MAX],
      [MANY, 1],
    ] as const) {
      const journal = await openMemoryJournal({ clock: () => 1 });
      const object = secret(count);
      await journal.append([added(object)]);
      const [stored] = await all(journal.records({ from: 1 }));
      expect(stored?.body).not.toContain(VALUE);
      expect(stored?.body.split(SEALED_IN_TEXT)).toHaveLength(sealed + 1);
      expect(await all(journal.read({ from: 1 }))).toMatchObject([{ object }]);
    }
  });

  it('are shown with a placeholder for each value', async () => {
    const journal = await openMemoryJournal({ clock: () => 1 });
    await journal.append([added(secretWith({ data: map(MANY, 'aHVudGVyMg==') }))]);
    const [redacted] = await all(journal.records({ from: 1, secrets: 'redacted' }));
    const { data } = (JSON.parse(redacted!.body) as { object: { data: JsonObject } }).object;
    expect(Object.keys(data)).toHaveLength(MANY);
    expect(new Set(Object.values(data)).size).toBe(MANY);
    expect(redacted?.body).not.toContain('aHVudGVyMg==');
    expect(findingsOf(foldFacts([added(secretWith({ data }))]).state)).toEqual([]);
  });

  it.each([
    ['a member that Secrets do not have', secretWith({ Data: { [VALUE]: 'x' } })],
    ['a value of data', secretWith({ data: { key: { [VALUE]: 'x' } } })],
    ['managed fields', secretWith({}, { managedFields: [{ manager: 'x', fieldsV1: { [VALUE]: {} } }] })],
  ])('show no name inside %s', async (_, object) => {
    const journal = await openMemoryJournal({ clock: () => 1 });
    await journal.append([added(object)]);
    const [redacted] = await all(journal.records({ from: 1, secrets: 'redacted' }));
    expect(redacted?.body).not.toContain(VALUE);
  });

  it('of which too many are not to be sealed together are not recorded', async () => {
    const journal = await openMemoryJournal({ clock: () => 1 });
    const object = { ...secretWith({}), ...map(SEALED_VALUES_MAX + 1, VALUE) };
    await expect(journal.append([added(object)])).rejects.toMatchObject({ code: 'unfit-fact' });
    const looksSealed = { ...secretWith({}), kind: 'ConfigMap', data: map(SEALED_VALUES_MAX + 1, 'sealed:v1:x') };
    await expect(journal.append([added(looksSealed)])).rejects.toThrow('more than 4096 private values');
  });
});

it.each([
  ...positions,
  ['data, a number', secretWith({ data: { key: 7357 } })],
  ['stringData, a number', secretWith({ stringData: { key: -7357.5 } })],
  ['type', secretWith({ type: [VALUE] })],
  ['a label', secretWith({}, { labels: { key: `${VALUE} ${VALUE}` } })],
] as const)('a value in %s is quoted by no verdict and no finding', (_, object) => {
  const { state, effects } = foldFacts([added(object)]);
  const said = JSON.stringify([effects, findingsOf(state)]);
  expect(said).not.toContain(VALUE);
  expect(said).not.toContain('7357');
});

it.each([
  `data: {key: *${VALUE}}`,
  `data: {key: "\\q${VALUE}"}`,
  `data: {key: ${VALUE}`,
  `data:\n  key: |${VALUE}\n    x`,
  `data:\n  key: "${VALUE}`,
  `data:\n  key: @${VALUE}`,
  `data:\n key: x\n${VALUE}`,
  `data:\n  key: ${VALUE}: ${VALUE}`,
  `data: ]${VALUE}`,
])('a value is quoted by no mistake of YAML: %j', text => {
  const { malformed } = parseFile(
    'a.yaml',
    Buffer.from(`apiVersion: v1\nkind: Secret\nmetadata: {name: own}\n${text}\n`),
  );
  expect(malformed.length).toBeGreaterThan(0);
  expect(JSON.stringify(malformed)).not.toContain(VALUE);
});

it('the place of a sealed value is escaped as in RFC 6901, "~" first: older journals are opened by it', () => {
  const places: string[] = [];
  mapPrivate(secretWith({ data: { 'a~1/b': VALUE, 'c/~0': VALUE } }, { name: 'x/y~z' }), [], (value: Json, place) => {
    places.push(place);
    return value;
  });
  expect(places).toEqual(['Secret/default/x~1y~0z:/data/a~01~1b', 'Secret/default/x~1y~0z:/data/c~1~00']);
});

it.each<[string, JsonObject, JsonObject]>([
  ['a ConfigMap', { kind: 'ConfigMap', data: { a: VALUE } }, { kind: 'ConfigMap', data: { a: VALUE } }],
  [
    'a key set, beside its data',
    { kind: 'JwksDocument', metadata: { name: 'd' }, data: { keys: VALUE }, spec: { a: VALUE } },
    { kind: 'JwksDocument', metadata: { name: 'd' }, data: { keys: '*' }, spec: { a: VALUE } },
  ],
])('values of %s are not private', (_, object, expected) => {
  expect(mapPrivate(object, [], () => '*')).toEqual(expected);
});

it('a path is marked by its last member, at any depth', () => {
  const fact = { a: VALUE, list: [{ b: VALUE, c: 1 }] };
  expect(mapPrivate(fact, [['a'], ['list', '0', 'b']], () => '*')).toEqual({ a: '*', list: [{ b: '*', c: 1 }] });
  for (const path of [[], ['name'], ['a', 'b', 'kind']]) {
    expect(() => mapPrivate(fact, [path], value => value)).toThrow('a path marked as private must not end in');
  }
  expect(mapPrivate({ name: { x: VALUE } }, [['name', 'x']], () => '*')).toEqual({ name: { x: '*' } });
});
