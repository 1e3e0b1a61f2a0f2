// What the arbitrary objects are worth: every kind occurs, in every version that is served, and nearly all of what is
// called sound is.

import fc from 'fast-check';
import { isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { KindDefinition } from '../../src/core/kinds/definition.ts';
import { definitionOf, definitions, kindNames } from '../../src/core/kinds/registry.ts';
import { anyObject, soundObject } from '../../src/testing/objects.ts';

const SAMPLE = 18_000;
const FIXED_SEED = 1;
const SOUND_MIN = 0.9;

const shown = ({ group, kind }: KindDefinition, version: string): string => `${kind} ${group}/${version}`;
const everything = kindNames.flatMap(name => definitions[name].versions.map(v => shown(definitions[name], v)));

/** For each kind and version how many there are, and how many of them are accepted. */
function census(arbitrary: fc.Arbitrary<JsonObject>): ReadonlyMap<string, readonly [there: number, accepted: number]> {
  const found = new Map<string, readonly [number, number]>();
  for (const object of fc.sample(arbitrary, { numRuns: SAMPLE, seed: FIXED_SEED })) {
    const definition = definitionOf(object.apiVersion, object.kind);
    if (definition === undefined) throw new Error(`of no kind: ${JSON.stringify(object)}`);
    const key = shown(definition, String(object.apiVersion).split('/').pop() ?? '');
    const [there, accepted] = found.get(key) ?? [0, 0];
    found.set(key, [there + 1, accepted + (isRight(definition.decode(object)) ? 1 : 0)]);
  }
  return found;
}

describe('arbitrary objects', () => {
  it('include sound ones of every kind and version, nearly all of which are accepted', () => {
    const found = census(soundObject);
    expect(everything.filter(one => !found.has(one))).toEqual([]);
    expect([...found].filter(([, [there, accepted]]) => accepted < there * SOUND_MIN)).toEqual([]);
  });
  it('include broken ones of every kind and version, some of which are refused', () => {
    const found = census(anyObject);
    expect(everything.filter(one => !found.has(one))).toEqual([]);
    expect([...found.values()].some(([there, accepted]) => accepted < there)).toBe(true);
  });
});
