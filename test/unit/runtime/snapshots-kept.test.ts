// What is forgotten while serving, and which snapshots are kept: the newest, of older ones a few spread over all of
// history, and the one that a compacted journal begins with.

import { expect, test } from 'vitest';
import type { State } from '../../../src/core/state.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { foldHistory, stateHash } from '../../../src/offline/load-state.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import {
  OLDER_SNAPSHOTS_MAX,
  SNAPSHOT_HELD_MAX,
  SNAPSHOTS_KEPT,
  Snapshotter,
  superfluous,
} from '../../../src/runtime/snapshots.ts';
import { World } from '../../../src/runtime/world.ts';

test('retention: a serving process deletes old events, continues, and restarts from the rest', async () => {
  let now = 0;
  const journal = await openMemoryJournal({ clock: () => now });
  const clock: Clock = { now: () => now, after: () => ({ cancel: () => undefined }) };
  const { state } = await foldHistory(journal, { fromSnapshot: true });
  const world = new World({ journal, state, clock, strict: false, log: () => undefined });
  const snapshotter = new Snapshotter(
    journal,
    0,
    () => undefined,
    10,
    () => ({ since: now - 50 }),
  );
  world.listen({ onFolded: (after: State) => snapshotter.consider(after) });
  for (let i = 1; i <= 200; i++) {
    now = i;
    const object = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: `s${i % 7}`, namespace: 'a' },
      spec: { clusterIP: `10.0.0.${i}`, ports: [{ port: i }] },
    };
    await world.record([{ source: 'file/Kubernetes', kind: 'Add', object }]);
    // A snapshot is written between the events, a slice a turn.
    for (let turn = 0; turn < 20; turn++) await new Promise<void>(resolve => setImmediate(resolve));
  }
  await world.stop();
  await snapshotter.finish(world.state);
  const base = journal.base().seq;
  expect(base).toBeGreaterThan(100);
  expect(base).toBeLessThan(150);
  expect(await journal.verify()).toMatchObject({ ok: true, events: 200 - base });
  for (const fromSnapshot of [true, false]) {
    expect(stateHash((await foldHistory(journal, { fromSnapshot })).state)).toBe(stateHash(world.state));
  }
});

test('snapshots: a bounded number is kept, evenly spread over the history', () => {
  let kept: readonly number[] = [];
  for (let seq = 4_000; seq <= 4_000_000; seq += 4_000) {
    kept = [...kept, seq];
    const going = new Set(superfluous(kept, 0));
    kept = kept.filter(one => !going.has(one));
    expect(kept.length).toBeLessThanOrEqual(OLDER_SNAPSHOTS_MAX + SNAPSHOTS_KEPT);
  }
  expect(kept.slice(-SNAPSHOTS_KEPT)).toEqual([3_988_000, 3_992_000, 3_996_000, 4_000_000]);
  const gaps = kept.map((seq, i) => seq - (kept[i - 1] ?? 0));
  // Twice an even spread, and what the newest ones that are all kept displace.
  expect(Math.max(...gaps)).toBeLessThanOrEqual(2 * Math.ceil(1_000 / OLDER_SNAPSHOTS_MAX) * 4_000);
});

test('snapshots: the one that a compacted journal begins with is kept', () => {
  const seqs = Array.from({ length: OLDER_SNAPSHOTS_MAX + SNAPSHOTS_KEPT + 24 }, (_, i) => 100 + i);
  expect(superfluous(seqs, 99)).not.toContain(100);
  expect(superfluous(seqs, 99)).toHaveLength(24);
});

test('snapshots: one is postponed while the processor is needed, within bounds', async () => {
  const journal = await openMemoryJournal({ clock: () => 0 });
  const { state } = await foldHistory(journal, { fromSnapshot: true });
  const clock: Clock = { now: () => 0, after: () => ({ cancel: () => undefined }) };
  const world = new World({ journal, state, clock, strict: false, log: () => undefined });
  let crowded = true;
  const snapshotter = new Snapshotter(
    journal,
    0,
    () => undefined,
    10,
    () => undefined,
    () => crowded,
  );
  world.listen({ onFolded: (after: State) => snapshotter.consider(after) });
  const says = async (n: number): Promise<readonly number[]> => {
    for (let i = 0; i < n; i++) await world.record([{ source: 'xds', kind: 'TimerFired', name: `${i}` }]);
    for (let turn = 0; turn < 20; turn++) await new Promise<void>(resolve => setImmediate(resolve));
    return (await journal.snapshots.list()).map(({ seq }) => seq);
  };
  expect(await says(25)).toEqual([]);
  crowded = false;
  expect(await says(1)).toEqual([26]);
  crowded = true;
  expect(await says(10 * SNAPSHOT_HELD_MAX)).toEqual([26, 26 + 10 * SNAPSHOT_HELD_MAX]);
  await world.stop();
});
