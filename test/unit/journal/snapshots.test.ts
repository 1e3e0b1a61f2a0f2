// Snapshots: written in slices beside appends, read whole or not at all.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { segmentHash, snapshotHash } from '../../../src/journal/chain.ts';
import type { Journal, SnapshotFact } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { SEGMENT_CHARS_MAX, SEGMENT_FACTS_MAX } from '../../../src/journal/segments.ts';
import { Sqlite } from '../../../src/journal/sqlite-driver.ts';
import type { SnapshotRow } from '../../../src/journal/store.ts';
import { added, all, openHere, temporaryDirectory, tickingClock } from './helpers.ts';

const PLAIN = 'SuperSecretPlainText';

function* facts(count: number): Generator<SnapshotFact> {
  for (let index = 0; index < count; index += 1) {
    yield { source: 'file/x', fact: { accepted: { kind: 'Service', n: index } } };
  }
}

const implementations: readonly (readonly [string, () => Promise<Journal>])[] = [
  ['sqlite', () => openHere(join(temporaryDirectory(), 'j.db'), { clock: tickingClock() })],
  ['memory', async () => openMemoryJournal({ clock: tickingClock() })],
];

describe.each(implementations)('snapshots (%s)', (_name, open) => {
  test('are read back as they were written, the newest at or below the seq asked for', async () => {
    const journal = await open();
    await journal.append([added('a'), added('b'), added('c')]);
    const first = await journal.snapshots.write({ seq: 1, format: 3, facts: facts(SEGMENT_FACTS_MAX * 2 + 1) });
    const second = await journal.snapshots.write({ seq: 3, format: 3, facts: [] });
    expect(first).toMatchObject({ seq: 1, format: 3, facts: SEGMENT_FACTS_MAX * 2 + 1, segments: 3 });
    expect(second.chain).toBe(journal.head().hash);
    expect(await journal.snapshots.list()).toEqual([first, second]);
    const read = await journal.snapshots.read(2);
    expect(read).toMatchObject({ info: first, skipped: [] });
    expect(await all(read!.facts)).toEqual([...facts(SEGMENT_FACTS_MAX * 2 + 1)]);
    expect((await journal.snapshots.read())!.info).toEqual(second);
    expect(await journal.snapshots.read(0)).toBeUndefined();
    expect(await journal.verify()).toMatchObject({ ok: true, snapshots: 2 });
  });

  test('are in the order of their events, in whichever they were written', async () => {
    const journal = await open();
    await journal.append([added('a'), added('b'), added('c')]);
    for (const seq of [3, 1, 2]) await journal.snapshots.write({ seq, format: 1, facts: facts(seq) });
    expect((await journal.snapshots.list()).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect((await journal.snapshots.read())!.info.seq).toBe(3);
    expect((await journal.snapshots.read(2))!.info.seq).toBe(2);
  });

  test('have segments of limited size', async () => {
    const journal = await open();
    await journal.append([added('a')]);
    const text = 'x'.repeat(SEGMENT_CHARS_MAX / 4);
    const large: readonly SnapshotFact[] = Array.from({ length: 9 }, (_, n) => ({ source: 'x', fact: { n, text } }));
    const info = await journal.snapshots.write({ seq: 1, format: 1, facts: large });
    expect(info).toMatchObject({ facts: 9, segments: 3 });
    const pages: number[] = [];
    for await (const page of (await journal.snapshots.read())!.facts) pages.push(page.length);
    expect(pages).toEqual([4, 4, 1]);
  });

  test('are replaced and dropped', async () => {
    const journal = await open();
    await journal.append([added('a')]);
    await journal.snapshots.write({ seq: 1, format: 1, facts: facts(SEGMENT_FACTS_MAX * 40) });
    const again = await journal.snapshots.write({ seq: 1, format: 1, facts: facts(2) });
    expect(await journal.snapshots.list()).toEqual([again]);
    expect(await all((await journal.snapshots.read())!.facts)).toHaveLength(2);
    await journal.snapshots.drop(1);
    expect(await journal.snapshots.list()).toEqual([]);
    expect((await journal.verify()).ok).toBe(true);
  });

  test('require an event at their seq', async () => {
    const journal = await open();
    await journal.append([added('a')]);
    for (const seq of [0, 2]) {
      const writing = journal.snapshots.write({ seq, format: 1, facts: [] });
      await expect(writing).rejects.toMatchObject({ code: 'no-such-seq', seq });
    }
  });

  test('leave nothing if their facts break off, and the next one is whole', async () => {
    const journal = await open();
    await journal.append([added('a'), added('b')]);
    function* breaking(): Generator<SnapshotFact> {
      yield* facts(SEGMENT_FACTS_MAX + 1);
      throw new Error('mine');
    }
    await expect(journal.snapshots.write({ seq: 1, format: 1, facts: breaking() })).rejects.toThrow('mine');
    expect(await journal.snapshots.list()).toEqual([]);
    expect((await journal.verify()).ok).toBe(true);
    await journal.snapshots.write({ seq: 2, format: 1, facts: facts(1) });
    expect(await all((await journal.snapshots.read())!.facts)).toEqual([...facts(1)]);
  });

  test('allow appends while they are written', async () => {
    const journal = await open();
    await journal.append([added('a')]);
    let segmentsDone = 0;
    function* counting(): Generator<SnapshotFact> {
      for (const fact of facts(SEGMENT_FACTS_MAX * 20)) {
        segmentsDone += 1 / SEGMENT_FACTS_MAX;
        yield fact;
      }
    }
    const writing = journal.snapshots.write({ seq: 1, format: 1, facts: counting() });
    await journal.append([added('b')]);
    expect(segmentsDone).toBeLessThan(10);
    await writing;
    expect((await journal.verify()).ok).toBe(true);
  });

  test('seal private values at any depth', async () => {
    const journal = await open();
    await journal.append([added('a')]);
    const fact = { refused: { beside: [{ kind: 'Secret', metadata: { name: 's' }, data: { k: PLAIN } }] } };
    await journal.snapshots.write({ seq: 1, format: 1, facts: [{ source: 'x', fact }] });
    expect(await all((await journal.snapshots.read())!.facts)).toEqual([{ source: 'x', fact }]);
    expect(journal.keyCheck()).toBeDefined();
    const sealed = await all((await journal.snapshots.read(1, 'sealed'))!.facts);
    expect(JSON.stringify(sealed)).not.toContain(PLAIN);
    if (journal.path === 'memory') return;
    for (const suffix of ['', '-wal']) expect(readFileSync(journal.path + suffix).includes(PLAIN)).toBe(false);
  });
});

test('a damaged snapshot is skipped and named, and the one before is used', async () => {
  const file = join(temporaryDirectory(), 'j.db');
  const journal = await openHere(file);
  await journal.append([added('a'), added('b')]);
  const older = await journal.snapshots.write({ seq: 1, format: 1, facts: facts(5) });
  await journal.snapshots.write({ seq: 2, format: 1, facts: facts(SEGMENT_FACTS_MAX + 5) });
  const db = new Sqlite(file);
  const other = `[${'{"fact":{},"source":"x"},'.repeat(SEGMENT_FACTS_MAX - 1)}{"fact":{},"source":"x"}]`;
  db.prepare('UPDATE snapshot_segment SET body = ? WHERE seq = 2 AND number = 1').run(other);
  db.close();
  const read = await journal.snapshots.read();
  expect(read!.info).toEqual(older);
  expect(read!.skipped).toMatchObject([{ kind: 'snapshot', seq: 2, column: 'snapshot_segment.body' }]);
  expect((await journal.verify()).findings).toMatchObject([{ kind: 'snapshot', seq: 2 }]);
});

test('segments are deflated; the plain text of older journals is read as well', async () => {
  const file = join(temporaryDirectory(), 'j.db');
  const journal = await openHere(file);
  await journal.append([added('a')]);
  const written = [...facts(SEGMENT_FACTS_MAX)];
  await journal.snapshots.write({ seq: 1, format: 1, facts: written });
  const db = new Sqlite(file);
  const stored = db.prepare('SELECT body FROM snapshot_segment').pluck().get() as string;
  const text = JSON.stringify(written.map(({ source, fact }) => ({ fact, source })));
  expect(stored.length).toBeLessThan(text.length / 5);
  const hash = segmentHash(text);
  db.prepare('UPDATE snapshot_segment SET body = ?, hash = ?').run(text, hash);
  const [row] = db.prepare('SELECT * FROM snapshot').all() as [SnapshotRow];
  db.prepare('UPDATE snapshot SET hash = ?').run(snapshotHash(row, [hash]));
  db.close();
  expect(await all((await journal.snapshots.read())!.facts)).toEqual(written);
  expect(await journal.verify()).toMatchObject({ ok: true, snapshots: 1 });
});

test('a segment that is no deflated text is damage, even if its hash is right', async () => {
  const file = join(temporaryDirectory(), 'j.db');
  const journal = await openHere(file);
  await journal.append([added('a')]);
  await journal.snapshots.write({ seq: 1, format: 1, facts: facts(1) });
  const db = new Sqlite(file);
  const hash = segmentHash('eAFL');
  db.prepare('UPDATE snapshot_segment SET body = ?, hash = ?').run('eAFL', hash);
  const [row] = db.prepare('SELECT * FROM snapshot').all() as [SnapshotRow];
  db.prepare('UPDATE snapshot SET hash = ?').run(snapshotHash(row, [hash]));
  db.close();
  const read = await journal.snapshots.read();
  await expect(all(read!.facts)).rejects.toMatchObject({ code: 'damaged', seq: 1 });
});
