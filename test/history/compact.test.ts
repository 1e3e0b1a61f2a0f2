// Compaction: what is kept can be asked as before, receipts of what is kept are reproduced, and wherever it is
// interrupted the journal is whole.

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SNAPSHOT_FORMAT, snapshotOf } from '../../src/core/fold/snapshot.ts';
import { History, openHistory } from '../../src/history/history.ts';
import { compactTo, cutOf } from '../../src/history/retention.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { openJournal } from '../../src/journal/open.ts';
import { Sqlite } from '../../src/journal/sqlite-driver.ts';
import { foldHistory, stateHash } from '../../src/offline/load-state.ts';
import { replay } from '../../src/offline/verify-receipts.ts';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

let samples: Samples;
beforeAll(async () => {
  samples = await openSamples('subset-outage', 'bookinfo-day');
});
afterAll(() => samples.remove());

function copy(name: string): string {
  const path = join(samples.folder, `${name}.db`);
  copyFileSync(samples.path('subset-outage'), path);
  return path;
}

async function hashes(path: string, from: number): Promise<readonly string[]> {
  const history = await openHistory(path);
  const found: string[] = [];
  for (let seq = from; seq <= history.head().seq; seq++) found.push(stateHash(await history.at(seq)));
  await history.close();
  return found;
}

describe('compact', () => {
  test('keeps every later position as it was and names the first one left', async () => {
    const path = copy('kept');
    const before = await hashes(path, 100);
    const { code, out } = await periplus('journal', 'compact', '-j', path, '--keep-events', '64');
    expect([code, out]).toEqual([
      0,
      'forgot 99 events before event 100; the journal holds 64 events and the state before them\n',
    ]);
    expect(await hashes(path, 100)).toEqual(before);
    const journal = await openJournal(path, { readonly: true });
    expect(await journal.verify()).toMatchObject({ ok: true, events: 64, snapshots: 1 });
    expect(stateHash((await foldHistory(journal, { fromSnapshot: true })).state)).toBe(before.at(-1));
    expect(stateHash((await foldHistory(journal, { fromSnapshot: false })).state)).toBe(before.at(-1));
    const report = await replay(journal, { verify: true });
    expect(report.failures).toEqual([]);
    expect(report.receipts).toBeGreaterThan(5);
    await journal.close();
    const gone = await periplus('proxy-config', 'cluster', 'productpage', '-j', path, '--at', '50');
    expect([gone.code, gone.err]).toEqual([
      1,
      expect.stringMatching(/there is no position 50; .* goes from 100 to 163/),
    ]);
    const outage = await periplus('bisect', '-j', path, '-p', 'productpage', '--cluster-missing');
    expect(outage.out).toContain('since event 112');
    expect((await periplus('journal', 'stats', '-j', path)).out).toContain('events 101 to 163');
    // And once more, from there.
    expect((await periplus('journal', 'compact', '-j', path, '--keep-events', '10')).code).toBe(0);
    expect(await hashes(path, 154)).toEqual(before.slice(54));
  });

  test('deletes by age and by size, checks limits, and changes nothing in a dry run', async () => {
    const path = copy('limits');
    const json = await periplus('journal', 'compact', '-j', path, '--keep-events', '64', '--dry-run', '-o', 'json');
    expect(JSON.parse(json.out)).toEqual({ removed: 99, first: 100, kept: 64, dryRun: true });
    const head = { out: expect.stringMatching(/^would forget 162 events before event 163/) };
    expect(await periplus('journal', 'compact', '-j', path, '--keep', '1h', '--dry-run')).toMatchObject(head);
    const journal = await openJournal(path, { readonly: true });
    const since = Date.UTC(2026, 2, 11, 10, 12, 0);
    expect(await cutOf(journal, { since })).toEqual({ first: 112, removed: 111 });
    expect(await cutOf(journal, { chars: 1e9 })).toBeUndefined();
    const sized = await cutOf(journal, { chars: 20_000 });
    expect(sized!.first).toBeGreaterThan(100);
    expect(await cutOf(journal, { since, events: 10 })).toEqual({ first: 154, removed: 153 });
    await journal.close();
    expect((await periplus('journal', 'compact', '-j', path)).code).toBe(2);
    expect((await periplus('journal', 'compact', '-j', path, '--keep', 'long')).err).toMatch(
      /expected a number and one of m, h, d, w/,
    );
    expect((await periplus('journal', 'compact', '-j', path, '--keep-size', '9GB')).out).toMatch(/nothing goes/);
  });

  test('leaves a journal that verifies, replays from its start and goes on, killed at any step', async () => {
    const path = join(samples.folder, 'long.db');
    const open = (at: string): Promise<Journal> => openJournal(at, { durability: 'off', clock: () => 1_000 });
    const journal = await open(path);
    const timer = (name: string) => ({ source: 'runtime', kind: 'TimerFired', name }) as const;
    await journal.append(Array.from({ length: 7_000 }, (_, i) => timer(`${i}`)));
    // Compacted before, so that the journal rests on a snapshot already.
    await compactTo(journal, { first: 500, removed: 0 });
    const wanted = stateHash(await new History(journal).at(7_000));
    const left: string[] = [];
    const kill = (): void => {
      const copied = join(samples.folder, `killed-${left.length}.db`);
      for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copied + suffix);
      left.push(copied);
    };
    await compactTo(journal, { first: 6_500, removed: 0 }, kill);
    kill();
    expect(left.length).toBeGreaterThan(4);
    expect(journal.base().seq).toBe(6_499);
    await journal.close();
    for (const copied of left) {
      const reader = await openJournal(copied, { readonly: true });
      expect(await reader.verify()).toMatchObject({ ok: true, events: 501 });
      for (const fromSnapshot of [false, true]) {
        expect(stateHash((await foldHistory(reader, { fromSnapshot })).state)).toBe(wanted);
      }
      await reader.close();
    }
    const again = await open(left[0]!);
    await again.append([timer('after')]);
    expect(await again.verify()).toMatchObject({ ok: true, events: 502 });
    expect(again.base().seq).toBe(6_499);
    await again.close();
    const rows = new Sqlite(left[0]!, { readonly: true });
    expect(rows.prepare('SELECT count(*) FROM event').pluck().get()).toBe(502);
    rows.close();
  });

  test('deletes nothing without an intact snapshot, and reports a lost one', async () => {
    const journal = await openMemoryJournal({ clock: () => 1 });
    await journal.append([1, 2, 3, 4].map(i => ({ source: 'runtime', kind: 'TimerFired', name: `${i}` }) as const));
    await expect(journal.compact(3)).rejects.toMatchObject({ code: 'no-such-seq' });
    const facts = snapshotOf(await new History(journal).at(3));
    await journal.snapshots.write({ seq: 3, format: SNAPSHOT_FORMAT, facts });
    await journal.compact(3);
    expect(journal.base().seq).toBe(2);
    expect((await foldHistory(journal, { fromSnapshot: false })).state.seq).toBe(4);
    await journal.snapshots.drop(3);
    await expect(foldHistory(journal, { fromSnapshot: true })).rejects.toMatchObject({ code: 'damaged', seq: 2 });
  });
});
