// Which members of a Secret are private, and which stay readable: what is sealed without need hides what an operator
// looks for in the journal.

import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { mapPrivate, PLAIN_ANNOTATION_CHARS_MAX } from '../../../src/journal/private-values.ts';

const VALUE = 'hunter2';
const LONG = 'x'.repeat(PLAIN_ANNOTATION_CHARS_MAX + 1);

/** With `*` for each private value. */
const shown = (object: JsonObject): JsonObject => mapPrivate(object, [], () => '*');
const placesOf = (object: JsonObject): readonly string[] => {
  const places: string[] = [];
  mapPrivate(object, [], (value: Json, place) => {
    places.push(place);
    return value;
  });
  return places;
};

describe('of the metadata of a Secret', () => {
  const metadata = (members: JsonObject): JsonObject => ({ kind: 'Secret', metadata: { name: 's', ...members } });

  it.each<[string, JsonObject, JsonObject]>([
    [
      'the fields that a manager owns are private, and neither who it is nor when it wrote',
      { managedFields: [{ manager: 'kubectl', time: 't', fieldsV1: { 'f:data': VALUE } }, 'odd'] },
      { managedFields: [{ manager: 'kubectl', time: 't', fieldsV1: '*' }, 'odd'] },
    ],
    [
      'a member of that name outside of managed fields is not private',
      { ownerReferences: [{ kind: 'Pod', fieldsV1: VALUE }], managedFields: { fieldsV1: VALUE } },
      { ownerReferences: [{ kind: 'Pod', fieldsV1: VALUE }], managedFields: { fieldsV1: VALUE } },
    ],
    [
      'annotations are private if they are long, hold a brace or are no text',
      { annotations: { long: LONG, brace: '{', number: 7, list: ['x'], short: LONG.slice(1) } },
      { annotations: { long: '*', brace: '*', number: '*', list: '*', short: LONG.slice(1) } },
    ],
    [
      'labels are not private, however long',
      { labels: { long: LONG, brace: '{' } },
      { labels: { long: LONG, brace: '{' } },
    ],
    ['annotations that are no object are not private', { annotations: [LONG] }, { annotations: [LONG] }],
  ])('%s', (_what, members, expected) => {
    expect(shown(metadata(members))).toEqual(metadata(expected));
  });
});

describe('of the members of a Secret', () => {
  it('those that every Secret has are not private, all others are', () => {
    const known = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', immutable: true, metadata: { name: 's' } };
    expect(shown({ ...known, data: { k: VALUE }, stringData: { k: VALUE }, Data: { k: VALUE }, spec: VALUE })).toEqual({
      ...known,
      data: { k: '*' },
      stringData: { k: '*' },
      Data: '*',
      spec: '*',
    });
  });

  it('null is none: nothing can be hidden behind it', () => {
    const empty = { kind: 'Secret', metadata: {}, data: null, stringData: null, spec: null };
    expect(shown(empty)).toEqual(empty);
  });

  it('name and namespace are readable where the object is a reference, and private beside metadata', () => {
    const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'n', name: 'x' };
    expect(shown(ref)).toEqual(ref);
    expect(shown({ ...ref, metadata: { name: 's' } })).toMatchObject({ namespace: '*', name: '*', kind: 'Secret' });
  });
});

describe('the place of a private value', () => {
  it('begins with the name of its Secret, at any depth of the fact', () => {
    const secret = { kind: 'Secret', metadata: { namespace: 'n', name: 's' }, data: { k: VALUE }, spec: VALUE };
    const places = ['Secret/n/s:/data/k', 'Secret/n/s:/spec'];
    expect(placesOf(secret)).toEqual(places);
    expect(placesOf({ object: { kind: 'List', items: ['a', secret] } })).toEqual(places);
  });

  it('leaves out a name that is missing, no text, or would be sealed itself', () => {
    const of = (metadata: Json): readonly string[] =>
      placesOf({ kind: 'Secret', metadata, data: { k: VALUE } }).filter(place => place.includes('/data/'));
    for (const metadata of [{}, 'odd', null, { name: 7, namespace: ['n'] }, { name: 'sealed:v1:x' }]) {
      expect(of(metadata)).toEqual(['Secret//:/data/k']);
    }
  });

  it('names each step within it, of lists by number', () => {
    const metadata = { name: 's', annotations: { 'a/b': LONG }, managedFields: [{}, { fieldsV1: {} }] };
    expect(placesOf({ kind: 'Secret', metadata, data: [VALUE] })).toEqual([
      'Secret//s:/metadata/annotations/a~1b',
      'Secret//s:/metadata/managedFields/1/fieldsV1',
      'Secret//s:/data',
    ]);
    expect(placesOf({ value: [{ a: 'sealed:v1:x' }] })).toEqual(['/value/0/a']);
  });
});
