// What verify says, word for word: an operator acts on it. Each with a journal of a few events.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chainHash, columnSums, segmentHash, snapshotHash } from '../../../src/journal/chain.ts';
import type { Verdict } from '../../../src/journal/journal.ts';
import { JournalOnStore } from '../../../src/journal/journal-on-store.ts';
import { MemoryStore } from '../../../src/journal/memory-store.ts';
import { openJournal } from '../../../src/journal/open.ts';
import { SEGMENT_FACTS_MAX } from '../../../src/journal/segments.ts';
import { type Db, Sqlite } from '../../../src/journal/sqlite-driver.ts';
import type { RawRow, SnapshotRow } from '../../../src/journal/store.ts';
import { Vault } from '../../../src/journal/vault.ts';
import { added, openHere, temporaryDirectory, tickingClock } from './helpers.ts';

const EVENTS = 12;
const SEGMENTS = 3;

/** The file of a journal of twelve events, with a snapshot of three segments at the tenth. Made once. */
let made: Promise<Buffer> | undefined;
async function make(): Promise<Buffer> {
  const file = join(temporaryDirectory(), 'j.db');
  const journal = await openJournal(file, { durability: 'off', clock: tickingClock(1_000) });
  await journal.append(Array.from({ length: EVENTS }, (_, i) => added(`s${i}`)));
  const count = (SEGMENTS - 1) * SEGMENT_FACTS_MAX + 1;
  const facts = Array.from({ length: count }, (_, n) => ({ source: 'x', fact: { n } }));
  await journal.snapshots.write({ seq: 10, format: 3, facts });
  await journal.close();
  return readFileSync(file);
}

async function verdictAfter(damage: (db: Db) => void): Promise<Verdict> {
  made ??= make();
  const file = join(temporaryDirectory(), 'j.db');
  writeFileSync(file, await made);
  const db = new Sqlite(file);
  damage(db);
  db.close();
  return (await openHere(file, { readonly: true })).verify();
}
const set =
  (assignment: string, seq: number) =>
  (db: Db): void =>
    void db.prepare(`UPDATE event SET ${assignment} WHERE seq = ?`).run(seq);
const setMeta =
  (key: string, value: number | Buffer) =>
  (db: Db): void =>
    void db.prepare('UPDATE meta SET value = ? WHERE key = ?').run(value, key);
const sql =
  (text: string) =>
  (db: Db): void =>
    void db.exec(text);
const meta = (name: string, seq: number, why: string): string =>
  `what the journal records of its last event (meta.${name}, seq ${seq}) is wrong: ${why}`;
const noPlace = (seq: number): string =>
  `seq ${seq}: no event belongs here; the column event.seq was changed, or the row was added`;

describe('verify says of events', () => {
  it.each<[string, (db: Db) => void, readonly (readonly [string, number, string | undefined, string])[]]>([
    [
      'a changed column',
      set("body = '{}'", 7),
      [['changed', 7, 'event.body', 'seq 7: the column event.body was changed after it was written']],
    ],
    [
      'changed columns',
      set("source = 'x', kind = 'Update'", 7),
      [
        [
          'changed',
          7,
          'event.source, event.kind',
          'seq 7: the column event.source, event.kind was changed after it was written',
        ],
      ],
    ],
    [
      'sums of another length',
      set("sums = x'00'", 7),
      [['changed', 7, 'event.sums', 'seq 7: the column event.sums was changed after it was written']],
    ],
    [
      'a time that was changed, and then of no later one',
      set('time = 5000', 7),
      [['changed', 7, 'event.time', 'seq 7: the column event.time was changed after it was written']],
    ],
    ['one that is missing', sql('DELETE FROM event WHERE seq = 7'), [['hole', 7, 'event.seq', 'seq 7 is missing']]],
    [
      'the end that is missing',
      sql('DELETE FROM event WHERE seq > 11'),
      [['lost-tail', 12, undefined, 'seq 12 to 12 are missing: the journal recorded 12 as its last event']],
    ],
    [
      'one that was moved behind the end',
      sql('UPDATE event SET seq = 99 WHERE seq = 7'),
      [
        ['hole', 7, 'event.seq', 'seq 7 is missing'],
        ['changed', 99, 'event.seq', noPlace(99)],
      ],
    ],
    [
      'one that was moved before the beginning',
      sql('UPDATE event SET seq = -3 WHERE seq = 7'),
      [
        ['changed', -3, 'event.seq', noPlace(-3)],
        ['hole', 7, 'event.seq', 'seq 7 is missing'],
      ],
    ],
    [
      'the record of a head with later ones',
      setMeta('head_seq', 11),
      [['meta', 11, 'meta.head_seq', meta('head_seq', 11, 'there are later events')]],
    ],
    [
      'the record of another hash',
      setMeta('head_hash', Buffer.alloc(32)),
      [['meta', 12, 'meta.head_hash', meta('head_hash', 12, 'it is not the hash of that event')]],
    ],
    [
      'the record of another time',
      setMeta('head_time', 5),
      [['meta', 12, 'meta.head_time', meta('head_time', 12, 'it is not the time of that event')]],
    ],
  ])('%s', async (_what, damage, expected) => {
    const { findings, ok, snapshots } = await verdictAfter(damage);
    expect(findings).toEqual(
      expected.map(([kind, seq, column, message]) => ({
        kind,
        seq,
        ...(column === undefined ? {} : { column }),
        message,
      })),
    );
    expect([ok, snapshots]).toEqual([false, 1]);
  });

  it('content that was changed with its sums', async () => {
    const { findings } = await verdictAfter(db => {
      const row = db.prepare('SELECT time, source, kind FROM event WHERE seq = 7').get() as RawRow;
      const sums = columnSums(row.time, row.source, row.kind, '{}');
      db.prepare("UPDATE event SET body = '{}', sums = ? WHERE seq = 7").run(sums);
    });
    const message = 'seq 7: the content was changed after it was written, and its sums were adapted to it';
    expect(findings).toEqual([
      { kind: 'changed', seq: 7, column: 'event.time, event.source, event.kind, event.body', message },
    ]);
  });

  it('a time that goes back, once', async () => {
    const { findings } = await verdictAfter(db => {
      const rows = db
        .prepare('SELECT seq, time, source, kind, body, hash FROM event WHERE seq >= 10')
        .all() as readonly {
        readonly seq: number;
        readonly time: number;
        readonly source: string;
        readonly kind: string;
        readonly body: string;
        readonly hash: Buffer;
      }[];
      let { hash } = rows[0]!;
      const update = db.prepare('UPDATE event SET time = ?, sums = ?, hash = ? WHERE seq = ?');
      for (const { seq, time, source, kind, body } of rows.slice(1)) {
        const put = seq === 11 ? 7 : time;
        hash = chainHash(hash, seq, put, source, kind, body);
        update.run(put, columnSums(put, source, kind, body), hash, seq);
      }
      setMeta('head_hash', hash)(db);
    });
    const message = 'seq 11: time 7 is before 1010, the time of an earlier event';
    expect(findings).toEqual([{ kind: 'time-went-back', seq: 11, column: 'event.time', message }]);
  });

  it('nothing of those that a compaction has not deleted yet', async () => {
    const verdict = await verdictAfter(db => {
      setMeta('base_hash', db.prepare('SELECT hash FROM event WHERE seq = 4').pluck().get() as Buffer)(db);
      setMeta('base_seq', 4)(db);
      db.exec("UPDATE event SET body = '{}' WHERE seq = 3");
    });
    expect(verdict).toMatchObject({ ok: true, events: EVENTS - 4, snapshots: 1, findings: [] });
  });
});

describe('verify says of a snapshot', () => {
  const segment = (assignment: string): ((db: Db) => void) =>
    sql(`UPDATE snapshot_segment SET ${assignment} WHERE number = 2`);
  const row = (assignment: string): ((db: Db) => void) => sql(`UPDATE snapshot SET ${assignment}`);
  it.each<[string, (db: Db) => void, string, string]>([
    [
      'that a segment is missing',
      sql('DELETE FROM snapshot_segment WHERE number = 2'),
      'snapshot_segment.number',
      'segment 2 is missing',
    ],
    ['that its row names more segments', row('segments = 4'), 'snapshot.segments', 'segment 4 is missing'],
    [
      'that its row names fewer segments',
      row('segments = 2'),
      'snapshot.segments',
      'has more segments than its row says',
    ],
    ['which segment was changed', segment("body = 'eA=='"), 'snapshot_segment.body', 'segment 2 was changed'],
    [
      'that the hash of a segment was changed',
      segment('hash = zeroblob(32)'),
      'snapshot_segment.hash',
      'segment 2 was changed',
    ],
    ['that it is of no event', row('seq = 99'), 'snapshot_segment.number', 'segment 1 is missing'],
    [
      'that it is of another event',
      row('chain = zeroblob(32)'),
      'snapshot.chain',
      'does not belong to the event of that seq',
    ],
    ['that its time was changed', row('time = 5'), 'snapshot.time', 'its row was changed'],
    ['that its count was changed', row('facts = 7'), 'snapshot.facts', 'its row was changed'],
    ['that its format was changed', row('format = 4'), 'snapshot.format', 'its row was changed'],
    ['that its hash was changed', row('hash = zeroblob(32)'), 'snapshot.hash', 'its row was changed'],
  ])('%s', async (_what, damage, column, what) => {
    const { findings } = await verdictAfter(damage);
    const seq = what === 'segment 1 is missing' ? 99 : 10;
    expect(findings).toEqual([{ kind: 'snapshot', seq, column, message: `snapshot ${seq}: ${what}` }]);
  });

  it('without any segment, that it is of no event', async () => {
    const { findings } = await verdictAfter(db => {
      db.exec('DELETE FROM snapshot_segment; UPDATE snapshot SET seq = 99, segments = 0');
      const [made] = db.prepare('SELECT * FROM snapshot').all() as [SnapshotRow];
      db.prepare('UPDATE snapshot SET hash = ?').run(snapshotHash(made, []));
    });
    expect(findings).toMatchObject([
      { seq: 99, column: 'snapshot.seq', message: 'snapshot 99: does not belong to the event of that seq' },
    ]);
  });

  it('that its facts are fewer, where a segment and all hashes over it were replaced', async () => {
    const { findings } = await verdictAfter(db => {
      const hashes = db.prepare('SELECT hash FROM snapshot_segment ORDER BY number').pluck().all() as Buffer[];
      const hash = segmentHash('[]');
      db.prepare("UPDATE snapshot_segment SET body = '[]', hash = ? WHERE number = 2").run(hash);
      const [made] = db.prepare('SELECT * FROM snapshot').all() as [SnapshotRow];
      db.prepare('UPDATE snapshot SET hash = ?').run(snapshotHash(made, [hashes[0]!, hash, hashes[2]!]));
    });
    const message = 'snapshot 10: it has 201 facts, and its row says 401';
    expect(findings).toEqual([{ kind: 'snapshot', seq: 10, column: 'snapshot.facts', message }]);
  });
});

describe('verify says of the file', () => {
  const verified = async (store: MemoryStore): Promise<Verdict> => {
    const vault = new Vault({ keyFile: undefined, recorded: undefined, readonly: false });
    const journal = new JournalOnStore(store, vault, tickingClock());
    await journal.append([added('a')]);
    return journal.verify();
  };

  it('what its own check found', async () => {
    class Damaged extends MemoryStore {
      override check(): readonly string[] {
        return ['row 3 missing from index'];
      }
    }
    expect((await verified(new Damaged())).findings).toEqual([
      { kind: 'file', message: 'memory: row 3 missing from index' },
    ]);
  });

  it('that it could not be read to its end', async () => {
    class Unreadable extends MemoryStore {
      override rawPage(): readonly RawRow[] {
        throw new Error('the disk is gone');
      }
    }
    const { findings, ok, events } = await verified(new Unreadable());
    expect([ok, events]).toEqual([false, 0]);
    expect(findings).toEqual([{ kind: 'file', message: 'memory: reading stopped: the disk is gone' }]);
  });

  it('that events are missing that were acknowledged', async () => {
    class Shorter extends MemoryStore {
      override acknowledged(): number {
        return 4;
      }
    }
    const message = 'seq 2 to 4 are missing: they were acknowledged, as the record beside the file says';
    expect((await verified(new Shorter())).findings).toEqual([{ kind: 'lost-tail', seq: 2, message }]);
  });
});
