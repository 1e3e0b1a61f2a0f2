// What the journal needs of its storage (store.ts), of the file and of the store in memory alike.

import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CHAIN_START, chainHash, segmentHash, snapshotHash } from '../../../src/journal/chain.ts';
import { PAGE_CHARS_MAX } from '../../../src/journal/journal.ts';
import { MemoryStore } from '../../../src/journal/memory-store.ts';
import { Sqlite } from '../../../src/journal/sqlite-driver.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/journal/sqlite-store.ts';
import type { Group, PendingRow, Store } from '../../../src/journal/store.ts';
import { temporaryDirectory } from './helpers.ts';

const ROWS: readonly PendingRow[] = [
  [5, 'file/a', 'Synced', '{}'],
  [6, 'file/b', 'Add', '{"a":"wörd*"}'],
  [6, 'file/a', 'Delete', '{"a":"word"}'],
  [7, 'file/b', 'Synced', '{"b":1}'],
];
const group = (firstSeq: number, rows: readonly PendingRow[], more: Partial<Group> = {}): Group => ({
  firstSeq,
  rows,
  keyCheck: undefined,
  ...more,
});
async function openFile(path: string, readonly = false): Promise<SqliteStore> {
  const store = await openSqliteStore(path, { durability: 'off', readonly, fileBytesMax: undefined });
  onTestFinished(() => store.close());
  return store;
}
const segmentOf = (body: string, number = 1) => ({ number, body, hash: segmentHash(body) });

async function withSnapshot(store: Store, seq: number): Promise<void> {
  await store.writeSegment(seq, segmentOf('[1]'), undefined);
  const columns = { seq, format: 3, time: store.timeAt(seq)!, facts: 1, segments: 1, chain: store.hashAt(seq)! };
  await store.writeSnapshot({ ...columns, hash: snapshotHash(columns, [segmentHash('[1]')]) });
}

const stores: readonly (readonly [string, () => Promise<Store>])[] = [
  ['a file', () => openFile(join(temporaryDirectory(), 'j.db'))],
  ['memory', async () => new MemoryStore()],
];

describe.each(stores)('a store in %s', (_name, open) => {
  it('begins before seq 1, with nothing in it', async () => {
    const store = await open();
    const start = { seq: 0, hash: CHAIN_START };
    expect(store.base).toEqual(start);
    for (const head of [store.head(), store.recordedHead()]) expect(head).toEqual({ ...start, time: 0 });
    expect(store.page(1, 9)).toEqual([]);
    expect([store.rawPage(0), store.snapshots(), store.unfinishedSnapshots(), store.check()]).toEqual([[], [], [], []]);
    expect([store.keyCheck(), store.acknowledged(), store.hashAt(1), store.timeAt(1)]).toEqual(
      new Array(4).fill(undefined),
    );
  });

  it('chains the rows of a group behind the head, and gives the new head', async () => {
    const store = await open();
    await store.commit(group(1, ROWS.slice(0, 1)));
    const head = await store.commit(group(2, ROWS.slice(1)));
    let hash = CHAIN_START;
    for (const [i, [time, source, kind, body]] of ROWS.entries()) {
      hash = chainHash(hash, i + 1, time, source, kind, body);
      expect([store.hashAt(i + 1), store.timeAt(i + 1)]).toEqual([hash, time]);
      expect(store.page(i + 1, i + 1)).toMatchObject([
        { seq: i + 1, time, source, kind, body, hash: hash.toString('hex') },
      ]);
    }
    expect(head).toEqual({ seq: 4, time: 7, hash });
    expect([store.head(), store.recordedHead()]).toEqual([head, head]);
  });

  it('keeps the first key check that comes with a group or a segment', async () => {
    const store = await open();
    await store.commit(group(1, ROWS.slice(0, 1)));
    expect(store.keyCheck()).toBeUndefined();
    await store.writeSegment(1, segmentOf('[1]'), 'first');
    expect(store.keyCheck()).toBe('first');
    await store.commit(group(2, ROWS.slice(1), { keyCheck: 'second' }));
    expect(store.keyCheck()).toBe('first');
  });

  it('stores nothing of a group with a body that is no JSON, if bodies are to be looked at', async () => {
    const store = await open();
    const torn: readonly PendingRow[] = [ROWS[0]!, [5, 'x', 'Add', '{"a":']];
    await expect(store.commit(group(1, torn, { unparsed: true, keyCheck: 'k' }))).rejects.toMatchObject({
      code: 'damaged',
      seq: 2,
      path: store.path,
    });
    expect([store.head().seq, store.page(1, 9), store.keyCheck()]).toEqual([0, [], undefined]);
    expect((await store.commit(group(1, ROWS, { unparsed: true }))).seq).toBe(4);
  });

  it('finds rows by kind and by text, in a range', async () => {
    const store = await open();
    await store.commit(group(1, ROWS));
    const seqs = (rows: readonly { readonly seq: number }[]): readonly number[] => rows.map(({ seq }) => seq);
    expect(seqs(store.ofKinds(['Synced', 'Delete'], 1, 4))).toEqual([1, 3, 4]);
    expect(seqs(store.ofKinds(['Synced'], 2, 3))).toEqual([]);
    expect(seqs(store.containing('"a"', 1, 4))).toEqual([2, 3]);
    expect(seqs(store.containing('"a"', 3, 4))).toEqual([3]);
    expect(seqs(store.containing('rd*', 1, 4))).toEqual([2]);
    expect(store.seqsOf('Synced', 1, 4)).toEqual([1, 4]);
    expect(store.seqsOf('Synced', 2, 3)).toEqual([]);
  });

  it('ends a page behind the row with which it is large enough', async () => {
    const store = await open();
    const half = ' '.repeat(PAGE_CHARS_MAX / 2);
    await store.commit(group(1, [[1, 'x', 'y', half], [1, 'x', 'y', half], ROWS[0]!]));
    expect([store.page(1, 3).length, store.page(2, 3).length, store.page(1, 1).length]).toEqual([2, 2, 1]);
    expect(store.rawPage(0).length).toBeGreaterThan(1);
  });

  it('gives the bytes that are stored behind a seq', async () => {
    const store = await open();
    await store.commit(group(1, ROWS));
    const raw = store.rawPage(1);
    expect(raw.map(({ seq, time }) => [seq, time])).toEqual([
      [2, 6],
      [3, 6],
      [4, 7],
    ]);
    expect(raw[0]).toMatchObject({ source: Buffer.from('file/b'), kind: Buffer.from('Add') });
    expect(raw[0]!.body).toEqual(Buffer.from('{"a":"wörd*"}'));
    expect(raw[0]!.hash).toEqual(store.hashAt(2));
  });

  it('has a snapshot once its row is written, and nothing of it when it was dropped', async () => {
    const store = await open();
    await store.commit(group(1, ROWS));
    await store.writeSegment(3, segmentOf('[1]'), undefined);
    await store.writeSegment(3, segmentOf('[2]', 2), undefined);
    expect([store.snapshots(), store.unfinishedSnapshots()]).toEqual([[], [3]]);
    await store.dropSnapshot(3);
    expect([store.unfinishedSnapshots(), store.segment(3, 1)]).toEqual([[], undefined]);
    await withSnapshot(store, 3);
    await withSnapshot(store, 2);
    expect(store.snapshots().map(({ seq, format, facts }) => [seq, format, facts])).toEqual([
      [2, 3, 1],
      [3, 3, 1],
    ]);
    expect(store.unfinishedSnapshots()).toEqual([]);
    expect(store.segment(3, 1)).toEqual({ number: 1, body: Buffer.from('[1]'), hash: segmentHash('[1]') });
    expect(store.segment(3, 2)).toBeUndefined();
    await store.dropSnapshot(3);
    expect(store.snapshots().map(({ seq }) => seq)).toEqual([2]);
    expect(store.segment(3, 1)).toBeUndefined();
  });

  it('forgets events up to one that it has, with the snapshots there', async () => {
    const store = await open();
    await store.commit(group(1, ROWS));
    for (const seq of [1, 2, 3]) await withSnapshot(store, seq);
    expect(await store.trim(9)).toBe(false);
    expect(store.base.seq).toBe(0);
    const hash = store.hashAt(2)!;
    expect(await store.trim(2)).toBe(false);
    expect(store.base).toEqual({ seq: 2, hash });
    expect(store.snapshots().map(({ seq }) => seq)).toEqual([3]);
    expect(store.page(3, 4).map(({ seq }) => seq)).toEqual([3, 4]);
    expect(store.rawPage(2).map(({ seq }) => seq)).toEqual([3, 4]);
    expect([store.timeAt(2), store.timeAt(3), store.head().seq]).toEqual([undefined, 6, 4]);
    await store.shrink();
    expect((await store.commit(group(5, ROWS.slice(3)))).seq).toBe(5);
  });
});

describe('a store of a file', () => {
  it('is read by another process as the first has left it, each time', async () => {
    const path = join(temporaryDirectory(), 'j.db');
    const writer = await openFile(path);
    const reader = await openFile(path, true);
    await writer.commit(group(1, ROWS, { keyCheck: 'k' }));
    expect([reader.head(), reader.keyCheck(), reader.acknowledged()]).toEqual([writer.head(), 'k', 4]);
    await writer.trim(2);
    expect(reader.base).toEqual(writer.base);
    await expect(reader.commit(group(5, ROWS.slice(3)))).rejects.toMatchObject({ code: 'read-only', path });
  });

  it('has all that was recorded when it is opened again', async () => {
    const path = join(temporaryDirectory(), 'j.db');
    const first = await openFile(path);
    await first.commit(group(1, ROWS, { keyCheck: 'k' }));
    await first.trim(1);
    const [head, base] = [first.head(), first.base];
    await first.close();
    const second = await openFile(path);
    expect([second.head(), second.base, second.keyCheck(), second.acknowledged()]).toEqual([head, base, 'k', 4]);
    expect(second.page(2, 4)).toHaveLength(3);
  });

  it('gives rows of bytes in pages, which end with the row that brings them to their limit', async () => {
    const store = await openFile(join(temporaryDirectory(), 'j.db'));
    const half = JSON.stringify('x'.repeat(PAGE_CHARS_MAX / 2 - 2));
    await store.commit(
      group(
        1,
        [half, half, '{}', '{}'].map(body => [1, 'x', 'Add', body] as const),
      ),
    );
    expect(store.rawPage(0).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(store.rawPage(2).map(({ seq }) => seq)).toEqual([3, 4]);
  });

  it('deletes a snapshot of many segments in slices, down to the last', async () => {
    const store = await openFile(join(temporaryDirectory(), 'j.db'));
    await store.commit(group(1, ROWS));
    for (let number = 1; number <= 40; number++) await store.writeSegment(2, segmentOf('[]', number), undefined);
    expect(store.unfinishedSnapshots()).toEqual([2]);
    await store.dropSnapshot(2);
    expect(store.unfinishedSnapshots()).toEqual([]);
    expect([1, 17, 40].map(number => store.segment(2, number))).toEqual([undefined, undefined, undefined]);
  });

  it('has no check of a key if what is recorded as one is no text', async () => {
    const path = join(temporaryDirectory(), 'j.db');
    const store = await openFile(path);
    await store.commit(group(1, ROWS, { keyCheck: 'abc' }));
    expect((await openFile(path, true)).keyCheck()).toBe('abc');
    const db = new Sqlite(path);
    db.exec("UPDATE meta SET value = 5 WHERE key = 'key_check'");
    db.close();
    expect((await openFile(path, true)).keyCheck()).toBeUndefined();
  });

  it('never grows beyond its limit, and is whole when it reached it', async () => {
    const path = join(temporaryDirectory(), 'j.db');
    const store = await openSqliteStore(path, { durability: 'off', readonly: false, fileBytesMax: 200_000 });
    onTestFinished(() => store.close());
    await store.commit(group(1, ROWS.slice(0, 1)));
    const large: PendingRow = [9, 'x', 'y', ' '.repeat(400_000)];
    await expect(store.commit(group(2, [large]))).rejects.toMatchObject({
      code: 'write-failed',
      message: `${path}: the journal could not be written (SQLITE_FULL: database or disk is full); free space or mend the disk; the next append is tried anew`,
    });
    expect((await store.commit(group(2, ROWS.slice(1)))).seq).toBe(4);
    expect([store.check(), store.acknowledged()]).toEqual([[], 4]);
  });
});
