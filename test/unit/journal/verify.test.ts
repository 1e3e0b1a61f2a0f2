// What verify says where the property tests are too blunt: the kind of each finding, and one finding for one fault.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chainHash, columnSums } from '../../../src/journal/chain.ts';
import type { Verdict } from '../../../src/journal/journal.ts';
import { JournalOnStore } from '../../../src/journal/journal-on-store.ts';
import { MemoryStore } from '../../../src/journal/memory-store.ts';
import { openJournal } from '../../../src/journal/open.ts';
import { SEGMENT_FACTS_MAX } from '../../../src/journal/segments.ts';
import { type Db, Sqlite } from '../../../src/journal/sqlite-driver.ts';
import type { RawSegment, StoredHead } from '../../../src/journal/store.ts';
import { Vault } from '../../../src/journal/vault.ts';
import { VERIFY_FINDINGS_MAX } from '../../../src/journal/verify.ts';
import { added, openHere, temporaryDirectory, tickingClock } from './helpers.ts';

const EVENTS = 2_500;

test.each<[string, (db: Db) => void, object[]]>([
  ['nothing', () => undefined, []],
  ['a body', set("body = body || ' '", 7), [{ kind: 'changed', seq: 7, column: 'event.body' }]],
  ['a source', set("source = 'file/other'", 7), [{ kind: 'changed', seq: 7, column: 'event.source' }]],
  ['a time', set('time = time + 1', 7), [{ kind: 'changed', seq: 7, column: 'event.time' }]],
  ['two columns', set("kind = 'Update', time = 0", 7), [{ kind: 'changed', seq: 7, column: 'event.time, event.kind' }]],
  ['a hash', set('hash = zeroblob(32)', 7), [{ kind: 'changed', seq: 7, column: 'event.hash' }]],
  ['the last hash', set('hash = zeroblob(32)', EVENTS), [{ seq: EVENTS, column: 'event.hash' }]],
  ['a hash of another length', set("hash = x'00'", 7), [{ seq: 7, column: 'event.hash' }]],
  ['the sums', set('sums = zeroblob(16)', 7), [{ kind: 'changed', seq: 7, column: 'event.sums' }]],
  ['a row on the edge of a page', set("body = '{}'", 1_001), [{ seq: 1_001, column: 'event.body' }]],
  ['one row gone', db => db.exec('DELETE FROM event WHERE seq = 9'), [{ kind: 'hole', seq: 9 }]],
  ['rows gone', db => db.exec('DELETE FROM event WHERE seq BETWEEN 9 AND 1100'), [{ kind: 'hole', seq: 9 }]],
  ['the first row gone', db => db.exec('DELETE FROM event WHERE seq = 1'), [{ kind: 'hole', seq: 1 }]],
  ['the tail gone', db => db.exec('DELETE FROM event WHERE seq > 2400'), [{ kind: 'lost-tail', seq: 2_401 }]],
  [
    'a row moved away',
    db => db.exec('UPDATE event SET seq = 99999 WHERE seq = 9'),
    [
      { kind: 'hole', seq: 9 },
      { kind: 'changed', seq: 99_999, column: 'event.seq' },
    ],
  ],
  [
    'two rows swapped',
    db =>
      db.exec(
        'UPDATE event SET seq = -9 WHERE seq = 9; UPDATE event SET seq = 9 WHERE seq = 10; UPDATE event SET seq = 10 WHERE seq = -9',
      ),
    [{ seq: 9 }, { seq: 10 }, { seq: 11 }],
  ],
  ['the recorded head', setMeta('head_hash', Buffer.alloc(32)), [{ kind: 'meta', column: 'meta.head_hash' }]],
  ['the recorded seq', setMeta('head_seq', 100), [{ kind: 'meta', column: 'meta.head_seq', seq: 100 }]],
  ['the recorded head of no event', emptied, [{ kind: 'meta', column: 'meta.head_hash', seq: 0 }]],
  ['the recorded time', setMeta('head_time', 5), [{ kind: 'meta', column: 'meta.head_time' }]],
])('verify detects %s', async (_what, damage, expected) => {
  const verdict = await verdictAfter(damage);
  expect(verdict.findings).toMatchObject(expected);
  expect(verdict.ok).toBe(expected.length === 0);
  expect(verdict.findings.every(({ message }) => message.length > 10)).toBe(true);
});

test.each<[string, (db: Db) => void, string]>([
  ['one event', db => db.exec('DELETE FROM event WHERE seq = 9'), 'seq 9 is missing'],
  ['several', db => db.exec('DELETE FROM event WHERE seq BETWEEN 9 AND 11'), 'seq 9 to 11 are missing'],
])('verify says which events are missing: %s', async (_what, damage, message) => {
  expect((await verdictAfter(damage)).findings.map(finding => finding.message)).toEqual([message]);
});

test('verify finds content changed together with its checksums', async () => {
  const verdict = await verdictAfter(db => {
    const row = db.prepare('SELECT time, source, kind FROM event WHERE seq = 7').get() as {
      time: number;
      source: string;
      kind: string;
    };
    const sums = columnSums(row.time, row.source, row.kind, '{}');
    db.prepare("UPDATE event SET body = '{}', sums = ? WHERE seq = 7").run(sums);
  });
  expect(verdict.findings).toMatchObject([{ kind: 'changed', seq: 7 }]);
  expect(verdict.findings[0]!.message).toContain('its sums were adapted');
});

test('verify finds a time that goes back in a consistent chain', async () => {
  const verdict = await verdictAfter(db => {
    const rows = db.prepare('SELECT seq, time, source, kind, body, hash FROM event WHERE seq >= 6').all() as {
      seq: number;
      time: number;
      source: string;
      kind: string;
      body: string;
      hash: Buffer;
    }[];
    let { hash } = rows[0]!;
    const update = db.prepare('UPDATE event SET time = ?, sums = ?, hash = ? WHERE seq = ?');
    for (const { seq, time, source, kind, body } of rows.slice(1)) {
      const put = seq === 9 ? 1 : time;
      hash = chainHash(hash, seq, put, source, kind, body);
      update.run(put, columnSums(put, source, kind, body), hash, seq);
    }
    setMeta('head_hash', hash)(db);
  });
  expect(verdict.findings).toMatchObject([{ kind: 'time-went-back', seq: 9, column: 'event.time' }]);
});

test('verify reports faults up to a limit, and reads no further', async () => {
  const pages: number[] = [];
  const verdict = await verdictAfter(
    db => db.exec("UPDATE event SET body = '{}'"),
    done => pages.push(done),
  );
  expect(verdict.findings).toHaveLength(VERIFY_FINDINGS_MAX);
  expect(pages).toEqual([1_000]);
});

test('verify counts its progress from where a compacted journal begins', async () => {
  const journal = inMemory(new MemoryStore());
  await journal.append(['a', 'b', 'c', 'd', 'e'].map(name => added(name)));
  await journal.snapshots.write({ seq: 3, format: 1, facts: [] });
  await journal.compact(3);
  const progress: (readonly [number, number])[] = [];
  await journal.verify((done, of) => progress.push([done, of]));
  expect(progress).toEqual([[3, 3]]);
});

test('verify leaves events that another process appends meanwhile to the next one', async () => {
  class Growing extends MemoryStore {
    begun: StoredHead | undefined;

    override recordedHead(): StoredHead {
      return this.begun ?? super.recordedHead();
    }
  }
  const store = new Growing();
  const journal = inMemory(store);
  await journal.append([added('a'), added('b')]);
  store.begun = store.head();
  await journal.append([added('c'), added('d')]);
  expect(await journal.verify()).toMatchObject({ ok: true, events: 2, findings: [], head: { seq: 2 } });
});

test('verify finds a lost tail of a journal that is compacted meanwhile', async () => {
  const path = join(temporaryDirectory(), 'j.db');
  const writer = await openJournal(path, { durability: 'off', clock: tickingClock() });
  await writer.append(Array.from({ length: EVENTS }, (_, index) => added(`s${index}`)));
  await writer.close();
  const reader = await openHere(path, { readonly: true });
  const db = new Sqlite(path);
  db.exec('DELETE FROM event WHERE seq > 2400');
  let isCompacted = false;
  const verdict = await reader.verify(() => {
    if (isCompacted) return;
    isCompacted = true;
    setMeta('base_hash', db.prepare('SELECT hash FROM event WHERE seq = 1800').pluck().get() as Buffer)(db);
    setMeta('base_seq', 1_800)(db);
    db.exec('DELETE FROM event WHERE seq <= 1800');
  });
  db.close();
  expect(verdict.findings).toMatchObject([{ kind: 'lost-tail', seq: 2_401 }]);
});

test('verify reports its progress', async () => {
  const journal = await openHere(join(temporaryDirectory(), 'j.db'));
  await journal.append(Array.from({ length: EVENTS }, (_, index) => added(`s${index}`)));
  const progress: (readonly [number, number])[] = [];
  await journal.verify((done, of) => progress.push([done, of]));
  expect(progress).toEqual([
    [1_000, EVENTS],
    [2_000, EVENTS],
    [EVENTS, EVENTS],
  ]);
});

test.each([
  ['all events before the new start', 1_800, 1_800],
  ['some of them', 1_800, 1_500],
  ['only events that were checked', 700, 700],
  ['every event', EVENTS, EVENTS],
])('verify beside a compaction that has deleted %s reports no damage', async (_what, base, deleted) => {
  const path = join(temporaryDirectory(), 'j.db');
  const writer = await openJournal(path, { durability: 'off', clock: tickingClock() });
  await writer.append(Array.from({ length: EVENTS }, (_, index) => added(`s${index}`)));
  await writer.close();
  const reader = await openHere(path, { readonly: true });
  const db = new Sqlite(path);
  let isCompacted = false;
  const verdict = await reader.verify(() => {
    if (isCompacted) return;
    isCompacted = true;
    setMeta('base_hash', db.prepare('SELECT hash FROM event WHERE seq = ?').pluck().get(base) as Buffer)(db);
    setMeta('base_seq', base)(db);
    db.prepare('DELETE FROM event WHERE seq <= ?').run(deleted);
  });
  db.close();
  expect(isCompacted).toBe(true);
  expect(verdict.findings).toEqual([]);
  expect(verdict.events).toBe(1_000 + Math.min(EVENTS - 1_000, EVENTS - base));
});

test('verify finds damage behind the new start of a journal that is compacted meanwhile', async () => {
  const path = join(temporaryDirectory(), 'j.db');
  const writer = await openJournal(path, { durability: 'off', clock: tickingClock() });
  await writer.append(Array.from({ length: EVENTS }, (_, index) => added(`s${index}`)));
  await writer.close();
  const reader = await openHere(path, { readonly: true });
  const db = new Sqlite(path);
  let isCompacted = false;
  const verdict = await reader.verify(() => {
    if (isCompacted) return;
    isCompacted = true;
    setMeta('base_hash', db.prepare('SELECT hash FROM event WHERE seq = 1800').pluck().get() as Buffer)(db);
    setMeta('base_seq', 1_800)(db);
    db.exec('DELETE FROM event WHERE seq <= 1801');
  });
  db.close();
  expect(verdict.findings).toMatchObject([{ kind: 'hole', seq: 1_801 }]);
});

test('verify skips a snapshot that is dropped while it is read', async () => {
  class Dropping extends MemoryStore {
    override segment(seq: number, number: number): RawSegment | undefined {
      if (number === 2) void this.dropSnapshot(seq);
      return super.segment(seq, number);
    }
  }
  const journal = inMemory(new Dropping());
  await journal.append([added('a')]);
  const facts = Array.from({ length: 2 * SEGMENT_FACTS_MAX }, (_, n) => ({ source: 'x', fact: { n } }));
  await journal.snapshots.write({ seq: 1, format: 1, facts });
  expect(await journal.verify()).toMatchObject({ ok: true, events: 1, snapshots: 0, findings: [] });
});

function inMemory(store: MemoryStore): JournalOnStore {
  const vault = new Vault({ keyFile: undefined, recorded: undefined, readonly: false });
  return new JournalOnStore(store, vault, tickingClock());
}

async function verdictAfter(damage: (db: Db) => void, onProgress?: (done: number) => void): Promise<Verdict> {
  const path = join(temporaryDirectory(), 'j.db');
  const journal = await openJournal(path, { durability: 'off', clock: tickingClock() });
  await journal.append(Array.from({ length: EVENTS }, (_, index) => added(`s${index}`)));
  await journal.close();
  const db = new Sqlite(path);
  damage(db);
  db.close();
  const reader = await openHere(path, { readonly: true });
  return reader.verify(onProgress);
}

function set(assignment: string, seq: number): (db: Db) => void {
  return db => void db.prepare(`UPDATE event SET ${assignment} WHERE seq = ?`).run(seq);
}

/** A journal that has no event yet, and a wrong hash before the first one. */
function emptied(db: Db): void {
  db.exec('DELETE FROM event');
  setMeta('head_seq', 0)(db);
  setMeta('head_time', 0)(db);
  setMeta('head_hash', Buffer.alloc(32))(db);
}

function setMeta(key: string, value: number | Buffer): (db: Db) => void {
  return db => void db.prepare('UPDATE meta SET value = ? WHERE key = ?').run(value, key);
}
