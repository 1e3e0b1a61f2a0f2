// Which events had no effect: found by searching a short way, and by the newest snapshot where the way is long.

import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../src/core/event.ts';
import { SNAPSHOT_FORMAT, snapshotOf } from '../../src/core/fold/snapshot.ts';
import { History } from '../../src/history/history.ts';
import { Rejections } from '../../src/history/rejections.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';

const tick: Unrecorded = { source: 'runtime', kind: 'TimerFired', name: 't' };
const rejected = (seq: number): Unrecorded => ({ source: 'runtime', kind: 'Rejected', rejected: seq, reason: 'x' });

/** Events 3 and 8 are rejected by 5 and 11, and a snapshot stands at 10. */
async function journalWithSnapshot(): Promise<Journal> {
  const journal = openMemoryJournal();
  const facts = Array.from({ length: 12 }, (_, i) => (i === 4 ? rejected(3) : i === 10 ? rejected(8) : tick));
  await journal.append(facts);
  const state = await new History(journal).at(10);
  await journal.snapshots.write({ seq: 10, format: SNAPSHOT_FORMAT, facts: snapshotOf(state) });
  return journal;
}

/** Reads that `seqsOf` is asked for. */
function searchesOf(journal: Journal): { readonly journal: Journal; readonly from: readonly number[] } {
  const from: number[] = [];
  const seen = new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown => {
        if (name === 'seqsOf') from.push((args[1] as { readonly from: number }).from);
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { journal: seen, from };
}

describe('rejected events', () => {
  it('are found on a short way by searching it', async () => {
    const { journal, from } = searchesOf(await journalWithSnapshot());
    const rejections = new Rejections(journal);
    expect([...(await rejections.after(6))]).toEqual([8]);
    expect([...(await rejections.after(0))].sort()).toEqual([3, 8]);
    expect(from).toEqual([7, 1]);
  });

  it('are found on a long way by the newest snapshot and the events after it', async () => {
    const { journal, from } = searchesOf(await journalWithSnapshot());
    const rejections = new Rejections(journal, 2);
    expect([...(await rejections.after(0))].sort()).toEqual([3, 8]);
    await journal.append([tick, rejected(9)]);
    expect([...(await rejections.after(4))].sort()).toEqual([3, 8, 9]);
    expect(from).toEqual([11, 13]);
  });

  it('are searched where no snapshot is newer', async () => {
    const { journal, from } = searchesOf(await journalWithSnapshot());
    await journal.append([rejected(11), tick, tick]);
    expect([...(await new Rejections(journal, 2).after(10))].sort()).toEqual([11, 8].sort());
    expect(from).toEqual([11]);
  });

  it('are found between the newest snapshot and a stretch that was searched before', async () => {
    const journal = await journalWithSnapshot();
    await journal.append([rejected(12), ...Array.from({ length: 7 }, () => tick)]);
    expect(journal.head().seq).toBe(20);
    const rejections = new Rejections(journal, 2);
    expect([...(await rejections.after(17))]).toEqual([]);
    expect([...(await rejections.after(0))].sort((a, b) => a - b)).toEqual([3, 8, 12]);
  });
});
