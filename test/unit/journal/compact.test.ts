// Compaction seen from the journal: what is forgotten, what is left, what is refused; the file and the journal in
// memory alike.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Journal, SnapshotFact } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { SEGMENT_FACTS_MAX } from '../../../src/journal/segments.ts';
import { TRIM_EVENTS_MAX } from '../../../src/journal/store.ts';
import { added, all, bySeq, openHere, temporaryDirectory, tickingClock, until } from './helpers.ts';

const implementations: readonly (readonly [string, () => Promise<Journal>])[] = [
  ['sqlite', () => openHere(join(temporaryDirectory(), 'j.db'), { clock: tickingClock() })],
  [
    'memory',
    async () => {
      const journal = openMemoryJournal({ clock: tickingClock() });
      onTestFinished(() => journal.close());
      return journal;
    },
  ],
];

const facts = (count: number): readonly SnapshotFact[] =>
  Array.from({ length: count }, (_, n) => ({ source: 'file/x', fact: { n } }));
const events = (count: number) => Array.from({ length: count }, (_, i) => added(`s${i}`));

describe.each(implementations)('a compacted journal (%s)', (_name, open) => {
  test('begins at the snapshot, and has what came after it', async () => {
    const journal = await open();
    const appended = await journal.append(events(6));
    for (const seq of [2, 4, 5]) await journal.snapshots.write({ seq, format: 1, facts: facts(seq) });
    const [third] = await all(journal.records({ from: 3, to: 3 }));
    await journal.compact(4);
    expect(journal.base()).toEqual({ seq: 3, hash: third?.hash });
    expect(await all(journal.read({ from: 1 }))).toEqual(appended.slice(3));
    expect(await all(journal.readUnparsed({ from: 2, to: 4 }))).toHaveLength(1);
    expect(await journal.seqsOf('Add', { from: 1 })).toEqual([4, 5, 6]);
    expect((await all(journal.records({ from: 1, to: 5, kind: 'Add' }))).map(({ seq }) => seq)).toEqual([4, 5]);
    expect((await journal.snapshots.list()).map(({ seq }) => seq)).toEqual([4, 5]);
    expect(await all((await journal.snapshots.read(4))!.facts)).toEqual(facts(4));
    expect(await journal.verify()).toMatchObject({ ok: true, events: 3, snapshots: 2 });
    expect(bySeq(await journal.append([added('next')]))).toEqual([7]);
    expect(await journal.verify()).toMatchObject({ ok: true, events: 4 });
  });

  test('is followed from where it begins', async () => {
    const journal = await open();
    await journal.append(events(4));
    await journal.snapshots.write({ seq: 3, format: 1, facts: [] });
    await journal.compact(3);
    const seen: number[] = [];
    const follow = journal.follow(1, page => void seen.push(...bySeq(page)));
    await journal.append([added('next')]);
    await until(() => seen.length === 3);
    await follow.stop();
    expect(seen).toEqual([3, 4, 5]);
  });

  test('is compacted again, from there', async () => {
    const journal = await open();
    await journal.append(events(5));
    for (const seq of [2, 5]) await journal.snapshots.write({ seq, format: 1, facts: [] });
    await journal.compact(2);
    await journal.compact(2);
    expect(journal.base().seq).toBe(1);
    await journal.compact(5);
    expect(journal.base().seq).toBe(4);
    expect(await journal.verify()).toMatchObject({ ok: true, events: 1, snapshots: 1 });
  });

  test('is not made without an intact snapshot at the very event', async () => {
    const journal = await open();
    await journal.append(events(3));
    await journal.snapshots.write({ seq: 2, format: 1, facts: [] });
    const refused = journal.compact(3);
    await expect(refused).rejects.toMatchObject({ code: 'no-such-seq', seq: 3, path: journal.path });
    await expect(refused).rejects.toThrow('only before an intact snapshot');
    expect(journal.base().seq).toBe(0);
    expect(await all(journal.read({ from: 1 }))).toHaveLength(3);
  });
});

test('a compaction says how far it is, slice by slice', async () => {
  const journal = await openHere(join(temporaryDirectory(), 'j.db'));
  const count = 2 * TRIM_EVENTS_MAX + 11;
  await journal.append(events(count));
  // Three times as many segments as one transaction deletes.
  await journal.snapshots.write({ seq: 1, format: 1, facts: facts(SEGMENT_FACTS_MAX * 40) });
  await journal.snapshots.write({ seq: count, format: 1, facts: [] });
  const progress: (readonly [number, number])[] = [];
  await journal.compact(count, { shrink: false, onProgress: (done, of) => progress.push([done, of]) });
  const of = count - 1;
  expect(progress).toEqual([
    [TRIM_EVENTS_MAX, of],
    [2 * TRIM_EVENTS_MAX, of],
    [of, of],
    [of, of],
  ]);
  expect(await journal.verify()).toMatchObject({ ok: true, events: 1, snapshots: 1 });
});

test('a compaction counts from where the journal begins', async () => {
  const journal = openMemoryJournal();
  await journal.append(events(9));
  for (const seq of [4, 8]) await journal.snapshots.write({ seq, format: 1, facts: [] });
  const progress: (readonly [number, number])[] = [];
  for (const seq of [4, 8]) await journal.compact(seq, { onProgress: (done, of) => progress.push([done, of]) });
  expect(progress).toEqual([
    [3, 3],
    [4, 4],
  ]);
});

test('a compaction gives the freed space back only if it is to shrink the file', async () => {
  const file = join(temporaryDirectory(), 'j.db');
  const size = async (shrink: boolean | undefined): Promise<number> => {
    const journal = await openHere(file);
    await journal.append(events(2_000));
    const { seq } = journal.head();
    await journal.snapshots.write({ seq, format: 1, facts: [] });
    await journal.compact(seq, shrink === undefined ? {} : { shrink });
    await journal.close();
    return statSync(file).size;
  };
  const kept = await size(false);
  const shrunk = await size(undefined);
  expect(shrunk).toBeLessThan(kept / 4);
  expect(await size(false)).toBeGreaterThan(shrunk * 4);
});

test('a reader sees that another process compacted the journal', async () => {
  const file = join(temporaryDirectory(), 'j.db');
  const writer = await openHere(file);
  await writer.append(events(4));
  const reader = await openHere(file, { readonly: true });
  expect(reader.base().seq).toBe(0);
  await writer.snapshots.write({ seq: 3, format: 1, facts: [] });
  await writer.compact(3);
  expect(reader.base()).toEqual(writer.base());
  expect(bySeq(await all(reader.read({ from: 1 })))).toEqual([3, 4]);
  for (const refused of [reader.compact(3), reader.snapshots.write({ seq: 4, format: 1, facts: [] })]) {
    await expect(refused).rejects.toMatchObject({ code: 'read-only', path: file });
  }
});
