// What is read of a journal: ranges, pages, one kind or one text of all events; the file and the journal in memory
// alike.

import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import type { Journal, RecordsRange } from '../../../src/journal/journal.ts';
import { PAGE_CHARS_MAX, PAGE_EVENTS_MAX } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { added, all, bySeq, openHere, secret, temporaryDirectory, tickingClock } from './helpers.ts';

const implementations: readonly (readonly [string, () => Promise<Journal>])[] = [
  ['sqlite', () => openHere(join(temporaryDirectory(), 'j.db'), { clock: tickingClock(0) })],
  [
    'memory',
    async () => {
      const journal = openMemoryJournal({ clock: tickingClock(0) });
      onTestFinished(() => journal.close());
      return journal;
    },
  ],
];

const synced = (source = 'file/x'): Unrecorded => ({ source, kind: 'Synced' });
const timer = (name: string): Unrecorded => ({ source: 'runtime', kind: 'TimerFired', name });
const VALUE = 'c2VjcmV0LW9mLXRlc3Q=';

describe.each(implementations)('the records of a journal (%s)', (_name, open) => {
  async function mixed(): Promise<Journal> {
    const journal = await open();
    await journal.append([added('a'), synced(), timer('one'), added('b'), timer('two'), synced('file/y')]);
    return journal;
  }
  const found = async (journal: Journal, range: RecordsRange): Promise<readonly number[]> =>
    (await all(journal.records(range))).map(({ seq }) => seq);

  test('are those of the range, both ends included', async () => {
    const journal = await mixed();
    expect(await found(journal, { from: 0 })).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await found(journal, { from: 2, to: 4 })).toEqual([2, 3, 4]);
    expect(await found(journal, { from: 6, to: 9 })).toEqual([6]);
    expect(await found(journal, { from: 7 })).toEqual([]);
    expect(await found(journal, { from: 4, to: 3 })).toEqual([]);
  });

  test('are stored as they are shown, with the hashes of the chain', async () => {
    const journal = await mixed();
    const records = await all(journal.records({ from: 2, to: 3 }));
    expect(records).toMatchObject([
      { seq: 2, time: 2, source: 'file/x', kind: 'Synced', body: '{}' },
      { seq: 3, time: 3, source: 'runtime', kind: 'TimerFired', body: '{"name":"one"}' },
    ]);
    const [last] = await all(journal.records({ from: 6 }));
    expect(last?.hash).toBe(journal.head().hash);
  });

  test('of one kind, or of several, leave the others out', async () => {
    const journal = await mixed();
    expect(await found(journal, { from: 1, kind: 'TimerFired' })).toEqual([3, 5]);
    expect(await found(journal, { from: 4, kind: 'TimerFired' })).toEqual([5]);
    expect(await found(journal, { from: 1, to: 4, kind: 'TimerFired' })).toEqual([3]);
    expect(await found(journal, { from: 2, to: 5, kind: ['Add', 'Synced'] })).toEqual([2, 4]);
    expect(await found(journal, { from: 1, kind: 'Delete' })).toEqual([]);
    expect(await found(journal, { from: 1, kind: [] })).toEqual([]);
  });

  test('with a text leave those without it out', async () => {
    const journal = await mixed();
    expect(await found(journal, { from: 1, containing: '"name":"b"' })).toEqual([4]);
    expect(await found(journal, { from: 1, to: 3, containing: '"name":"b"' })).toEqual([]);
    expect(await found(journal, { from: 2, containing: '"name"' })).toEqual([3, 4, 5]);
  });

  test('are found behind many events of another kind', async () => {
    const journal = await open();
    for (let batch = 0; batch < 6; batch++) await journal.append(Array.from({ length: 4_000 }, () => synced()));
    await journal.append([timer('late'), synced(), timer('later')]);
    expect(await found(journal, { from: 1, kind: 'TimerFired' })).toEqual([24_001, 24_003]);
    expect(await found(journal, { from: 1, containing: '"late"' })).toEqual([24_001]);
    expect(await journal.seqsOf('TimerFired', { from: 1 })).toEqual([24_001, 24_003]);
    expect(await journal.seqsOf('Synced', { from: 19_999, to: 20_002 })).toEqual([19_999, 20_000, 20_001, 20_002]);
  });

  test('have placeholders for private values on request, and are sealed otherwise', async () => {
    const journal = await open();
    await journal.append([secret('s', { k: VALUE }), added('a')]);
    const [sealed] = await all(journal.records({ from: 1 }));
    const [redacted, other] = await all(journal.records({ from: 1, secrets: 'redacted' }));
    expect(sealed?.body).toContain('"k":"sealed:v1:');
    expect(redacted?.body).not.toContain('sealed:v1:');
    expect(redacted?.body).not.toContain(VALUE);
    expect(redacted?.hash).toBe(sealed?.hash);
    expect(other).toEqual((await all(journal.records({ from: 2 })))[0]);
  });

  test('have a time that is read without their facts', async () => {
    const journal = await mixed();
    const times = (await all(journal.records({ from: 1 }))).map(({ time }) => time);
    expect(times.map((_, i) => journal.timeAt(i + 1))).toEqual(times);
    expect([journal.timeAt(0), journal.timeAt(times.length + 1)]).toEqual([undefined, undefined]);
  });

  test('name the seqs of a kind in a range', async () => {
    const journal = await mixed();
    expect(await journal.seqsOf('Synced', { from: 1 })).toEqual([2, 6]);
    expect(await journal.seqsOf('Synced', { from: 2, to: 6 })).toEqual([2, 6]);
    expect(await journal.seqsOf('Synced', { from: 3, to: 5 })).toEqual([]);
    expect(await journal.seqsOf('Synced', { from: 1, to: 99 })).toEqual([2, 6]);
    expect(await journal.seqsOf('Synced', { from: 7 })).toEqual([]);
    expect(await journal.seqsOf('Synced', { from: 6, to: 6 })).toEqual([6]);
  });

  test('come in pages of limited length', async () => {
    const journal = await open();
    await journal.append(Array.from({ length: PAGE_EVENTS_MAX + 1 }, () => synced()));
    const lengths: number[] = [];
    for await (const page of journal.records({ from: 1 })) lengths.push(page.length);
    expect(lengths).toEqual([PAGE_EVENTS_MAX, 1]);
  });

  test('come in pages of limited size, one event at least', async () => {
    const journal = await open();
    const large = 'x'.repeat(PAGE_CHARS_MAX / 2);
    await journal.append([timer('small'), timer(large), timer(large), timer(`${large}${large}`), timer('small')]);
    const lengths: number[] = [];
    for await (const page of journal.read({ from: 1 })) lengths.push(page.length);
    expect(lengths).toEqual([3, 1, 1]);
    expect((await journal.verify()).events).toBe(5);
  });

  test('are read without those that are not wanted', async () => {
    const journal = await mixed();
    const asked: number[] = [];
    const wanted = (seq: number): boolean => {
      asked.push(seq);
      return seq % 2 === 0;
    };
    expect(bySeq(await all(journal.read({ from: 2, to: 5, wanted })))).toEqual([2, 4]);
    expect(asked).toEqual([2, 3, 4, 5]);
  });

  test('are refused once the journal is closed', async () => {
    const journal = await mixed();
    const reading = journal.records({ from: 1 })[Symbol.asyncIterator]();
    await journal.close();
    const closed = { code: 'closed', path: journal.path };
    await expect(reading.next()).rejects.toMatchObject(closed);
    await expect(all(journal.readUnparsed({ from: 1 }))).rejects.toMatchObject(closed);
    await expect(journal.seqsOf('Synced', { from: 1 })).rejects.toMatchObject(closed);
    await expect(journal.verify()).rejects.toMatchObject(closed);
    await expect(journal.compact(1)).rejects.toMatchObject(closed);
    expect(() => journal.follow(1, () => undefined)).toThrow('the journal was closed');
  });
});
