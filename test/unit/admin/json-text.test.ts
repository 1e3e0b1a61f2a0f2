import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonParts, type LazyJson, LazyMembers, SLICE_CHARS } from '../../../src/admin/json-text.ts';
import { parameters } from '../../property/seed.ts';

function* each(items: readonly LazyJson[]): IterableIterator<LazyJson> {
  yield* items;
}

const jsonText = async (value: LazyJson): Promise<string> => Buffer.concat(await jsonParts(value)).toString();

/** The same, with lazy lists and, at every second level, lazy objects. */
function lazy(value: LazyJson, level = 0): LazyJson {
  if (Array.isArray(value)) return each(value.map(item => lazy(item, level + 1)));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, one]) => [name, lazy(one as LazyJson, level + 1)] as const);
  return level % 2 === 0 ? new LazyMembers(members) : Object.fromEntries(members);
}

describe('JSON in slices', () => {
  it('equals the text of JSON.stringify, with lazy and plain lists', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 9 }), async value => {
        const text = `${JSON.stringify(value, null, 2)}\n`;
        expect(await jsonText(value as LazyJson)).toBe(text);
        expect(await jsonText(lazy(value as LazyJson))).toBe(text);
      }),
      parameters(500),
    );
    let deep: LazyJson = ['a', ['b', { c: [] }]];
    for (let i = 0; i < 9; i++) deep = { within: deep, beside: i };
    expect(await jsonText(lazy(deep))).toBe(`${JSON.stringify(deep, null, 2)}\n`);
    expect(await jsonText({ kept: 'line\nbreak', left: undefined })).toBe('{\n  "kept": "line\\nbreak"\n}\n');
  });

  it('evaluates list items while writing, in several turns of the event loop', async () => {
    const item = 'x'.repeat(SLICE_CHARS / 4);
    let made = 0;
    let most = 0;
    let before = 0;
    let running = true;
    const turn = (): void => {
      most = Math.max(most, made - before);
      before = made;
      if (running) setImmediate(turn);
    };
    function* items(): IterableIterator<LazyJson> {
      for (; made < 40; made++) yield { item };
    }
    setImmediate(turn);
    const text = await jsonText({ items: items() });
    running = false;
    expect(JSON.parse(text)).toEqual({ items: Array.from({ length: 40 }, () => ({ item })) });
    expect(most).toBeLessThanOrEqual(8);
  });
});
