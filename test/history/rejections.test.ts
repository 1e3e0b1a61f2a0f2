// Which events had no effect: found by searching a short way, and by the newest snapshot where the way is long.

import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../src/core/event.ts';
import { SNAPSHOT_FORMAT, snapshotOf } from '../../src/core/fold/snapshot.ts';
import type { State } from '../../src/core/state.ts';
import { Checkpoints } from '../../src/history/checkpoints.ts';
import { History } from '../../src/history/history.ts';
import { Rejections } from '../../src/history/rejections.ts';
import { rewound } from '../../src/history/rewound.ts';
import { statsOf } from '../../src/history/stats.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { stateHash } from '../../src/offline/load-state.ts';

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

describe('a state', () => {
  const source = 'file/Kubernetes';
  const service = (name: string): Unrecorded => {
    const spec = { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 80 }] };
    const object = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' }, spec };
    return { source, kind: 'Add', object };
  };
  const names = ({ objects }: State): readonly string[] => [...objects.Service.values()].map(({ name }) => name);

  it('that was folded before its event was rejected is folded again, and so is what was folded from it', async () => {
    const journal = openMemoryJournal();
    await journal.append([service('a'), service('b')]);
    const history = new History(journal, { checkpoints: new Checkpoints(8, 1) });
    expect(names(await history.at(2))).toEqual(['a', 'b']);
    await journal.append([rejected(2), service('c')]);
    expect(names(await history.at(4))).toEqual(['a', 'c']);
    for (const seq of [2, 3, 2]) expect(names(await history.at(seq))).toEqual(['a']);
    const fresh = new History(journal, { checkpoints: new Checkpoints(8, 1) });
    while (await fresh.prepare());
    expect(stateHash(await fresh.at(2))).toBe(stateHash(await history.at(2)));
  });

  it('that is prepared in idle time knows of it too', async () => {
    const journal = openMemoryJournal();
    await journal.append([service('a'), service('b')]);
    const history = new History(journal, { checkpoints: new Checkpoints(8, 1) });
    while (await history.prepare());
    await journal.append([rejected(2), service('c')]);
    while (await history.prepare());
    expect(names(await history.at(4))).toEqual(['a', 'c']);
  });

  it('before a rejected event leads to no push and no version, and is what an object was before', async () => {
    const journal = openMemoryJournal();
    await journal.append([service('a'), service('b'), rejected(2)]);
    const history = new History(journal);
    const { objects } = await statsOf(history, 1, 3);
    expect(objects.map(({ object, pushes }) => [object, pushes])).toEqual([
      ['Service/default/a', 1],
      ['Service/default/b', 0],
    ]);
    const ref = { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'b' };
    await journal.append([service('b')]);
    const change = { seq: 4, source, object: 'Service/default/b', ref };
    const before = await rewound(new History(journal), await history.at(2), change);
    expect(names(before!)).toEqual(['a']);
  });
});
