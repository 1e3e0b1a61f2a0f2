// Facts as lines of text: to a place outside the journal and back, and from one journal into another of the same key.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { BODY_DEPTH_MAX } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { added, all, openHere, secret, temporaryDirectory } from './helpers.ts';

const VALUE = 'c2VjcmV0LW9mLXRlc3Q=';
const synced: Unrecorded = { source: 'file/"x"', kind: 'Synced' };
const malformed: Unrecorded = {
  source: 'file/x',
  kind: 'Malformed',
  origin: { file: 'a.yaml', line: 1 },
  reasons: [',"kind":"no"'],
};
const deleted: Unrecorded = {
  source: 'file/x',
  kind: 'Delete',
  ref: { apiVersion: 'v1', kind: 'Secret', namespace: 'a', name: 'b' },
};
const facts: readonly Unrecorded[] = [added('a'), secret('s', { k: VALUE }), synced, malformed, deleted];

test('facts come back from their lines as they were, and no line shows a private value', () => {
  const journal = openMemoryJournal();
  const lines = journal.toLines(facts);
  expect(lines[2]).toBe('{"body":{},"kind":"Synced","source":"file/\\"x\\""}');
  expect(lines.join('\n')).not.toContain(VALUE);
  expect(lines[1]).toContain('"k":"sealed:v1:');
  expect(journal.fromLines(lines)).toEqual(facts);
  expect(journal.head().seq).toBe(0);
});

test('facts that cannot be stored have no line', () => {
  const journal = openMemoryJournal();
  expect(() => journal.toLines([{ source: '', kind: 'Synced' }])).toThrow('source must be 1 to 512 characters');
});

test('facts are handed out as they would be stored, without being stored', () => {
  const journal = openMemoryJournal();
  const value = { a: Number.NaN, b: -0, c: undefined } as never;
  expect(journal.asStored([{ source: 'x', kind: 'MeshConfig', value }, synced])).toStrictEqual([
    { source: 'x', kind: 'MeshConfig', value: { a: null, b: 0 } },
    synced,
  ]);
  expect(journal.head().seq).toBe(0);
});

test('carried facts are stored as the first journal stored them, objects unparsed, with their times', async () => {
  const file = join(temporaryDirectory(), 'j.db');
  const first = await openHere(file);
  await first.append(facts);
  const lines = first.toLines(facts);
  const to = await openHere(join(temporaryDirectory(), 'to.db'), { keyFile: `${file}.key`, clock: () => 9_000 });
  const carried = to.carriedFrom(lines, 5_000);
  expect(carried.map(({ ref, time }) => [ref?.name, time])).toEqual([
    ['a', 5_000],
    [undefined, 5_000],
    [undefined, 5_000],
    [undefined, 5_000],
    [undefined, 5_000],
  ]);
  expect(carried.map(({ fact }) => fact)).toEqual(facts);
  const appended = await to.appendCarried(carried);
  expect(appended[0]).toMatchObject({ kind: 'Unread', seq: 1, time: 5_000, ref: { kind: 'Service', name: 'a' } });
  expect(appended.slice(1)).toMatchObject(facts.slice(1));
  const bodies = async (journal: typeof to) => (await all(journal.records({ from: 1 }))).map(({ body }) => body);
  expect(await bodies(to)).toEqual(await bodies(first));
  expect(await all(to.read({ from: 1 }))).toMatchObject(facts);
  // A fact of an earlier time gets the time of the event before; the clock counts again for what is appended here.
  expect((await to.appendCarried(to.carriedFrom(lines.slice(2, 3), 4_000)))[0]?.time).toBe(5_000);
  expect((await to.append([synced]))[0]?.time).toBe(9_000);
});

test.each(['sqlite', 'memory'])('carried objects that are no JSON are stored by no journal (%s)', async store => {
  const journal = store === 'memory' ? openMemoryJournal() : await openHere(join(temporaryDirectory(), 'j.db'));
  const [whole] = journal.toLines([added('a')]);
  const torn = whole!.replace('"spec":{', '"spec":');
  for (const [lines, seq] of [
    [[whole!, torn], 2],
    [[torn, whole!], 1],
  ] as const) {
    await expect(journal.appendCarried(journal.carriedFrom(lines, 1))).rejects.toMatchObject({
      code: 'damaged',
      message: `${journal.path}, seq ${seq}: a fact that was carried here is no JSON; nothing of its batch is stored`,
    });
  }
  expect(journal.head().seq).toBe(0);
  expect((await journal.appendCarried(journal.carriedFrom([whole!], 1)))[0]?.seq).toBe(1);
  expect((await journal.verify()).ok).toBe(true);
});

test('followers get carried objects parsed', async () => {
  const journal = openMemoryJournal();
  const seen: unknown[] = [];
  const done = new Promise<void>(resolve => {
    journal.follow(1, events => {
      seen.push(...events);
      if (seen.length >= 2) resolve();
    });
  });
  await journal.appendCarried(journal.carriedFrom(journal.toLines([added('a')]), 1));
  await journal.append([synced]);
  await done;
  expect(seen).toMatchObject([{ ...added('a'), seq: 1 }, synced]);
  await journal.close();
});

test('an object in a fact of another kind makes it no version of that object', () => {
  const journal = openMemoryJournal();
  const [line] = journal.toLines([added('a')]);
  const [added_, other] = journal.carriedFrom([line!, line!.replace('"kind":"Add"', '"kind":"Other"')], 1);
  expect([added_?.ref?.name, other?.ref]).toEqual(['a', undefined]);
  const [updated] = journal.carriedFrom([line!.replace('"kind":"Add"', '"kind":"Update"')], 1);
  expect(updated?.ref).toEqual(added_?.ref);
});

test.each([
  ['nothing', ''],
  ['another text', 'hello'],
  ['an event of an export', '{"seq":1,"kind":"Synced"}'],
  ['a body that is no object', '{"body":[],"kind":"Synced","source":"x"}'],
  ['no kind', '{"body":{}}'],
  ['a line cut off in its end', '{"body":{},"kind":"Synced","sou'],
  ['a body that is cut off', '{"body":{"name":,"kind":"TimerFired","source":"x"}'],
  ['a key that does not open it', '{"body":{"a":"sealed:v1:AAAA"},"kind":"MeshConfig","source":"x"}'],
])('a line that holds %s is refused as damaged', (_what, line) => {
  const journal = openMemoryJournal();
  const code = { code: 'damaged' };
  expect(() => journal.fromLines([line])).toThrow(expect.objectContaining(code));
  expect(() => journal.carriedFrom([line], 1)).toThrow(expect.objectContaining(code));
});

test.each([
  ['a kind with a control character', '{"body":{},"kind":"Syn\\nced","source":"x"}', 'kind'],
  ['a source that is none', '{"body":{},"kind":"Synced","source":7}', 'source'],
  ['an empty source', '{"body":{},"kind":"Synced","source":""}', 'source'],
])('a line with %s is refused as unfit', (_what, line, named) => {
  const journal = openMemoryJournal();
  expect(() => journal.carriedFrom([line], 1)).toThrow(expect.objectContaining({ code: 'unfit-fact' }));
  expect(() => journal.carriedFrom([line], 1)).toThrow(`${named} must be 1 to `);
});

test('a fact may be nested as deep as the limit says, and no deeper', () => {
  const journal = openMemoryJournal();
  const nested = (levels: number): Unrecorded => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level++) value = [value];
    return { source: 'x', kind: 'MeshConfig', value } as unknown as Unrecorded;
  };
  expect(journal.toLines([nested(BODY_DEPTH_MAX - 1)])).toHaveLength(1);
  expect(() => journal.toLines([nested(BODY_DEPTH_MAX)])).toThrow(`nested deeper than ${BODY_DEPTH_MAX} levels`);
});
