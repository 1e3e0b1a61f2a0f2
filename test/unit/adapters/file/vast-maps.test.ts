// Maps that are cut out of their object and put back part by part.

import { describe, expect, test } from 'vitest';
import { MapFiller, MEMBERS_PER_PART, membersOf, withoutVastMaps } from '../../../../src/adapters/file/vast-maps.ts';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import { keptKeys } from '../../../../src/core/base/keys.ts';

const map = (count: number, value: (i: number) => Json = i => `v${i}`): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${(i * 7_919) % count}`, value(i)]));

/** As the thread sends it and the parser takes it. */
function sent(object: JsonObject): { readonly rest: Json; readonly parts: number; readonly back: JsonObject } {
  const { rest, maps } = withoutVastMaps(object);
  const back = JSON.parse(JSON.stringify(rest)) as JsonObject;
  const filler = new MapFiller();
  let parts = 0;
  for (const members of membersOf(maps)) {
    filler.fill(back, JSON.parse(JSON.stringify(members)));
    parts++;
  }
  return { rest, parts, back };
}

describe('maps of tens of thousands of members', () => {
  const size = 2 * MEMBERS_PER_PART + 1;

  test('are empty in the rest of the object, and come back in parts, wherever they lie', () => {
    const object: JsonObject = { kind: 'Secret', data: map(size), list: [1, { deep: map(size) }], few: map(3) };
    const { rest, parts, back } = sent(object);
    expect(rest).toEqual({ kind: 'Secret', data: {}, list: [1, { deep: {} }], few: map(3) });
    expect(parts).toBe(6);
    expect(back).toEqual(object);
    expect(Object.keys(back)).toEqual(Object.keys(object));
  });

  test('come back in order, with their list of keys kept', () => {
    const { back } = sent({ data: map(size) });
    const keys = Object.keys(map(size)).sort();
    expect(Object.keys(back.data as JsonObject)).toEqual(keys);
    expect(keptKeys(back.data as JsonObject)).toEqual(keys);
  });

  test('stay where they are up to the members of one part, and what is in a map that is cut out stays in it', () => {
    const object: JsonObject = { data: map(MEMBERS_PER_PART) };
    expect(withoutVastMaps(object)).toEqual({ rest: object, maps: [] });
    expect(withoutVastMaps(object).rest).toBe(object);
    const nested: JsonObject = { data: map(size, i => (i === 5 ? map(size) : i)) };
    expect(sent(nested)).toMatchObject({ parts: 3, back: nested });
  });

  test('may be the object itself, and may have a member `__proto__`', () => {
    const odd = JSON.parse(`{"__proto__": 1, ${JSON.stringify(map(size)).slice(1)}`) as JsonObject;
    expect(Object.keys(sent(odd).back)).toEqual(Object.keys(odd).sort());
    expect(Object.getPrototypeOf(sent(odd).back)).toBe(Object.prototype);
  });
});
