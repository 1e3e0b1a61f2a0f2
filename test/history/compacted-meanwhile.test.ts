// A history that was opened before a compaction: the states that it kept from before are no way to later ones.

import { expect, test } from 'vitest';
import type { Unrecorded } from '../../src/core/event.ts';
import { SNAPSHOT_FORMAT, snapshotOf } from '../../src/core/fold/snapshot.ts';
import type { State } from '../../src/core/state.ts';
import { foldAlong } from '../../src/history/folding.ts';
import { History } from '../../src/history/history.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { foldHistory, stateHash } from '../../src/offline/load-state.ts';

const EVENTS = 2_000;
const BEGINS_AT = 701;

function added(i: number): Unrecorded {
  const metadata = { name: `s${i}`, namespace: 'default' };
  return { source: 'file/x', kind: 'Add', object: { apiVersion: 'v1', kind: 'Service', metadata, spec: {} } };
}

function deleted(i: number): Unrecorded {
  const ref = { apiVersion: 'v1', kind: 'Service', name: `s${i}`, namespace: 'default' };
  return { source: 'file/x', kind: 'Delete', ref };
}

/** The first half of the objects goes again, one by one, between the others. */
async function longJournal(): Promise<Journal> {
  const journal = openMemoryJournal({ clock: () => 1 });
  await journal.append(
    Array.from({ length: EVENTS }, (_, i) => (i % 2 === 0 ? added(i) : i % 4 === 1 ? deleted(i - 1) : added(i))),
  );
  return journal;
}

async function compact(journal: Journal): Promise<void> {
  const facts = snapshotOf(await new History(journal).at(BEGINS_AT));
  await journal.snapshots.write({ seq: BEGINS_AT, format: SNAPSHOT_FORMAT, facts });
  await journal.compact(BEGINS_AT);
}

test('a history gives later states as before when the events after those it kept are forgotten', async () => {
  const journal = await longJournal();
  const wanted = stateHash(await new History(journal).at(900));
  const last = stateHash(await new History(journal).at(EVENTS));
  const history = new History(journal);
  await history.at(500);
  await compact(journal);
  expect(stateHash(await history.at(900))).toBe(wanted);
  expect(stateHash(await history.at(EVENTS))).toBe(last);
});

test('a history that was prepared as far as the events that are forgotten goes on behind them', async () => {
  const journal = openMemoryJournal({ clock: () => 1 });
  await journal.append(Array.from({ length: 600 }, (_, i) => added(i)));
  const history = new History(journal);
  expect([await history.prepare(), await history.prepare()]).toEqual([true, false]);
  await journal.append(Array.from({ length: 1_400 }, (_, i) => (i % 2 === 0 ? deleted(i) : added(600 + i))));
  const positions = [702, 1_024, 1_100, 1_536, 2_000];
  const wanted: string[] = [];
  for (const seq of positions) wanted.push(stateHash(await new History(journal).at(seq)));
  await compact(journal);
  // States at 1,024 and 1,536; then there are none to be made.
  const made = [await history.prepare(), await history.prepare(), await history.prepare()];
  expect(made).toEqual([true, true, false]);
  for (const [i, seq] of positions.entries()) expect(stateHash(await history.at(seq))).toBe(wanted[i]);
});

test.each([900, 600])('a way to event %i that begins with a forgotten event is refused', async to => {
  const journal = await longJournal();
  const from = await new History(journal).at(500);
  await compact(journal);
  const onState = (_state: State): void => undefined;
  await expect(foldAlong({ journal, from, to, rejected: new Set(), step: 512, onState })).rejects.toMatchObject({
    code: 'no-such-seq',
    seq: 501,
  });
});

test.each([undefined, 600])('a journal that is compacted while it is about to be folded is refused', async to => {
  const journal = await longJournal();
  const racing = Object.create(journal, {
    path: { value: journal.path },
    base: { value: () => journal.base() },
    head: { value: () => journal.head() },
    seqsOf: {
      value: async (...args: Parameters<Journal['seqsOf']>) => {
        const found = await journal.seqsOf(...args);
        await compact(journal);
        return found;
      },
    },
    read: { value: journal.read.bind(journal) },
    readUnparsed: { value: journal.readUnparsed.bind(journal) },
  }) as Journal;
  const folding = foldHistory(racing, { fromSnapshot: false, ...(to === undefined ? {} : { to }) });
  await expect(folding).rejects.toMatchObject({ code: 'no-such-seq', seq: 1 });
});
