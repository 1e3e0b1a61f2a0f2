// Facts that are stored without being parsed: what is no JSON is refused with its seq, whatever keeps the rows.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { all, openHere, temporaryDirectory } from './helpers.ts';

const NAMED = '"object":{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"}';
const lineOf = (rest: string): string => `{"body":{${NAMED}${rest}},"kind":"Add","source":"file/Kubernetes"}`;
const deep = (levels: number): string => `,"spec":${'['.repeat(levels)}${']'.repeat(levels)}}`;

const stores: readonly (readonly [string, () => Promise<Journal>])[] = [
  ['a file', () => openHere(join(temporaryDirectory(), 'j.db'))],
  ['memory', async () => openMemoryJournal()],
];

describe.each(stores)('a carried fact, in %s,', (_, open) => {
  it.each([
    ['an odd bracket', ',"spec":{]}}'],
    ['a number of another notation', ',"spec":{"a":01}}'],
    ['a name without quotes', ',"spec":{a:1}}'],
    ['a comma at the end', ',"spec":{"a":1,}}'],
    ['an end before the end', '}\0'],
  ])('is refused with its batch if it is no JSON: %s', async (_what, rest) => {
    const journal = await open();
    const batch = journal.carriedFrom([lineOf('}'), lineOf(rest), lineOf('}')], 5);
    await expect(journal.appendCarried(batch)).rejects.toMatchObject({ code: 'damaged', seq: 2 });
    expect(journal.head().seq).toBe(0);
    await journal.appendCarried(batch.slice(0, 1));
    expect(await journal.verify()).toMatchObject({ ok: true, events: 1 });
  });

  it('is refused, with the name of its journal, if its line is not what a journal writes', async () => {
    const journal = await open();
    for (const line of ['no line', lineOf('}').replace('"kind":"Add",', ''), lineOf('}').slice(0, -1)]) {
      const carrying = (): unknown => journal.carriedFrom([line], 5);
      expect(carrying).toThrow(expect.objectContaining({ code: 'damaged', path: journal.path }));
    }
  });

  it('is refused if it is nested deeper than a journal reads', async () => {
    const journal = await open();
    expect(() => journal.carriedFrom([lineOf(deep(5_000))], 5)).toThrow(expect.objectContaining({ code: 'damaged' }));
  });

  it('is stored as it is, also if it is deeply nested', async () => {
    const journal = await open();
    const lines = [lineOf('}'), lineOf(deep(900))];
    await journal.appendCarried(journal.carriedFrom(lines, 5));
    expect(journal.head().seq).toBe(2);
    const bodies = (await all(journal.records({ from: 1 }))).map(({ body }) => body);
    expect(bodies).toEqual(lines.map(line => line.slice('{"body":'.length, line.lastIndexOf(',"kind":"'))));
    expect(await journal.verify()).toMatchObject({ ok: true, events: 2 });
  });
});
