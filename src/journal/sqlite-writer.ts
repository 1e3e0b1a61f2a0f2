// The writer thread, the only writer of the file. One request, at most one transaction, one answer, in order.
//
// Invariants: the head is what the file says. After a failed transaction it is read back, so an error at commit time
// cannot leave the thread with a chain that the file does not have; if it cannot be read, it stays what it was until a
// later task fails and reads it. A group is stored whole, with its key check, or not at all, and follows the head in
// seq and time. The head record (head-record.ts) is written between commit and answer, so it never claims an event that
// was not committed. A snapshot's row is written after its segments and deleted before them.

import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../core/base/assert.ts';
import { RowChain } from './chain.ts';
import { errorCode, errorText } from './fault.ts';
import { HeadRecorder } from './head-record.ts';
import type { Durability } from './journal.ts';
import { isJsonText } from './json-text.ts';
import type { Db } from './sqlite-driver.ts';
import { openForWriting } from './sqlite-file.ts';
import { type Group, type PendingRow, type SegmentRow, type SnapshotRow, TRIM_EVENTS_MAX } from './store.ts';

export interface WriterSetup {
  readonly path: string;
  readonly durability: Durability;
  readonly fileBytesMax: number | undefined;
}

export type WriterTask =
  | { readonly kind: 'commit'; readonly group: Group }
  | {
      readonly kind: 'segment';
      readonly seq: number;
      readonly segment: SegmentRow;
      readonly keyCheck: string | undefined;
    }
  | { readonly kind: 'snapshot'; readonly row: SnapshotRow }
  | { readonly kind: 'drop'; readonly seq: number }
  | { readonly kind: 'trim'; readonly to: number }
  | { readonly kind: 'shrink' }
  | { readonly kind: 'close' };

export interface WriterRequest {
  readonly id: number;
  readonly task: WriterTask;
}

/** Rows of the group that is committed next, before those that come with it. There is no answer. */
export interface HandedRows {
  readonly rows: Group['rows'];
}

/** Buffers arrive as Uint8Array. */
export interface WriterAnswer {
  readonly id: number;
  readonly head: { readonly seq: number; readonly time: number; readonly hash: Uint8Array };
  /** Absent: success. */
  readonly failed?: string;
  /** The seq that a row with an unreadable body would have had; nothing was written. */
  readonly unreadable?: number;
  /** For `drop` and `trim`: there is more to do, send the request again. */
  readonly more?: boolean;
}

interface Head {
  readonly seq: number;
  readonly time: number;
  readonly hash: Buffer;
}

/** Segments deleted in one transaction, so that events do not wait for the deletion of a whole snapshot. */
const DROP_SEGMENTS_MAX = 16;

/** The body of a row is no JSON. */
class Unreadable extends Error {
  readonly seq: number;

  constructor(seq: number) {
    super('a body is no JSON');
    this.seq = seq;
  }
}

class Writer {
  readonly #db: Db;
  readonly #record: HeadRecorder;
  #head: Head;
  #handed: PendingRow[] = [];
  readonly #insert;
  readonly #insertUnparsed;
  readonly #setHead;
  readonly #setMeta;
  readonly #addMeta;
  /** Prepared once: better-sqlite3 makes several functions for each statement. */
  readonly #atomically;

  constructor(setup: WriterSetup) {
    this.#db = openForWriting(setup.path);
    this.#record = new HeadRecorder(setup.path);
    this.#db.pragma(`synchronous = ${setup.durability}`);
    if (setup.fileBytesMax !== undefined) {
      const pageBytes = this.#db.pragma('page_size', { simple: true }) as number;
      this.#db.pragma(`max_page_count = ${Math.max(1, Math.floor(setup.fileBytesMax / pageBytes))}`);
    }
    const into = 'INSERT INTO event (seq, time, source, kind, body, sums, hash)';
    this.#insert = this.#db.prepare(`${into} VALUES (?, ?, ?, ?, ?, ?, ?)`);
    // A body that is no JSON becomes NULL, which the table refuses.
    this.#insertUnparsed = this.#db.prepare(
      `${into} SELECT seq, time, source, kind, iif(json_valid(body), body, NULL), sums, hash
       FROM (SELECT ? AS seq, ? AS time, ? AS source, ? AS kind, ? AS body, ? AS sums, ? AS hash)`,
    );
    this.#setHead = this.#db.prepare(
      `UPDATE meta SET value = CASE key WHEN 'head_seq' THEN ? WHEN 'head_time' THEN ? ELSE ? END
       WHERE key IN ('head_seq', 'head_time', 'head_hash')`,
    );
    this.#setMeta = this.#db.prepare('UPDATE meta SET value = ? WHERE key = ?');
    this.#addMeta = this.#db.prepare('INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)');
    this.#atomically = this.#db.transaction((work: () => boolean) => work());
    this.#head = this.#readHead();
  }

  take({ rows }: HandedRows): void {
    for (const row of rows) this.#handed.push(row);
  }

  run({ id, task }: WriterRequest): WriterAnswer {
    if (task.kind === 'close') {
      this.#record.close();
      this.#db.close();
      return { id, head: this.#head };
    }
    let goal: Head | undefined;
    const rows = task.kind === 'commit' ? this.#allRows(task.group) : [];
    try {
      if (task.kind === 'shrink') {
        // Not inside a transaction: SQLite writes a new file and then replaces this one.
        this.#db.exec('VACUUM');
        return { id, head: this.#head };
      }
      const more = this.#atomically(() => {
        if (task.kind === 'commit') goal = this.#commit({ ...task.group, rows });
        return this.#writeOther(task);
      });
      this.#head = goal ?? this.#head;
      if (goal !== undefined) this.#acknowledge();
      return { id, head: this.#head, more };
    } catch (error) {
      this.#recover();
      // The error came after the commit took effect (from the checkpoint that follows): the rows are stored.
      if (goal !== undefined && this.#head.seq === goal.seq && this.#head.hash.equals(goal.hash)) {
        this.#acknowledge();
        return { id, head: this.#head };
      }
      if (error instanceof Unreadable) return { id, head: this.#head, unreadable: error.seq };
      return { id, head: this.#head, failed: errorText(error) };
    }
  }

  #acknowledge(): void {
    const { seq, hash } = this.#head;
    this.#record.write({ seq, hash: hash.toString('hex') });
  }

  /** Whatever becomes of the group, the next one begins with none. */
  #allRows({ rows }: Group): Group['rows'] {
    const before = this.#handed;
    this.#handed = [];
    return before.length === 0 ? rows : before.concat(rows);
  }

  /** What a task has besides its group of events; true: there is more to do. */
  #writeOther(task: Exclude<WriterTask, { kind: 'close' | 'shrink' }>): boolean {
    if (task.kind === 'drop') return this.#drop(task.seq);
    if (task.kind === 'trim') return this.#trim(task.to);
    if (task.kind === 'segment') this.#writeSegment(task.seq, task.segment, task.keyCheck);
    if (task.kind === 'snapshot') this.#writeSnapshot(task.row);
    return false;
  }

  /**
   * The first transaction moves the start of the chain behind `to` and deletes older snapshots, so the journal is whole
   * wherever a crash ends the work. The rows before the start are garbage from then on and are deleted slice by slice.
   */
  #trim(to: number): boolean {
    const base = this.#db.prepare("SELECT value FROM meta WHERE key = 'base_seq'").pluck().get() as number;
    if (to > base) {
      const hash = this.#db.prepare('SELECT hash FROM event WHERE seq = ?').pluck().get(to) as Buffer | undefined;
      if (hash === undefined) return false;
      this.#db.prepare('DELETE FROM snapshot WHERE seq <= ?').run(to);
      this.#setMeta.run(to, 'base_seq');
      this.#setMeta.run(hash, 'base_hash');
    }
    const slice = 'SELECT seq FROM event WHERE seq <= ? ORDER BY seq LIMIT ?';
    const { changes } = this.#db
      .prepare(`DELETE FROM event WHERE seq IN (${slice})`)
      .run(Math.max(to, base), TRIM_EVENTS_MAX);
    return changes === TRIM_EVENTS_MAX;
  }

  /** The snapshot's row and a slice of its segments; true: there are more. */
  #drop(seq: number): boolean {
    this.#db.prepare('DELETE FROM snapshot WHERE seq = ?').run(seq);
    const numbers = this.#db
      .prepare('SELECT number FROM snapshot_segment WHERE seq = ? LIMIT ?')
      .pluck()
      .all(seq, DROP_SEGMENTS_MAX) as readonly number[];
    const remove = this.#db.prepare('DELETE FROM snapshot_segment WHERE seq = ? AND number = ?');
    for (const number of numbers) remove.run(seq, number);
    return numbers.length === DROP_SEGMENTS_MAX;
  }

  #commit(group: Group): Head {
    assert(group.firstSeq === this.#head.seq + 1, `seq ${group.firstSeq} does not follow ${this.#head.seq}`);
    let { seq, time } = this.#head;
    const chain = new RowChain(this.#head.hash);
    for (const row of group.rows) {
      const [rowTime, source, kind, body] = row;
      assert(rowTime >= time, `time ${rowTime} is before ${time}`);
      seq += 1;
      time = rowTime;
      chain.add(seq, time, source, kind, body);
      if (group.unparsed === true) this.#addUnparsed(seq, row, chain);
      else this.#insert.run(seq, time, source, kind, body, chain.sums, chain.hash);
    }
    this.#setHead.run(seq, time, chain.hash);
    this.#recordKey(group.keyCheck);
    return { seq, time, hash: chain.hash };
  }

  #addUnparsed(seq: number, [time, source, kind, body]: PendingRow, { sums, hash }: RowChain): void {
    // For SQLite the text ends there.
    if (body.includes('\0')) throw new Unreadable(seq);
    try {
      this.#insertUnparsed.run(seq, time, source, kind, body, sums, hash);
    } catch (error) {
      if (errorCode(error) !== 'SQLITE_CONSTRAINT_NOTNULL') throw error;
      // SQLite refuses JSON that is nested deeply, too.
      if (!isJsonText(body)) throw new Unreadable(seq);
      this.#insert.run(seq, time, source, kind, body, sums, hash);
    }
  }

  #recordKey(keyCheck: string | undefined): void {
    if (keyCheck !== undefined) this.#addMeta.run('key_check', keyCheck);
  }

  #writeSegment(seq: number, { number, body, hash }: SegmentRow, keyCheck: string | undefined): void {
    this.#recordKey(keyCheck);
    this.#db
      .prepare('INSERT INTO snapshot_segment (seq, number, body, hash) VALUES (?, ?, ?, ?)')
      .run(seq, number, body, Buffer.from(hash));
  }

  #writeSnapshot(row: SnapshotRow): void {
    this.#db
      .prepare('INSERT INTO snapshot (seq, format, time, facts, segments, chain, hash) VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(row.seq, row.format, row.time, row.facts, row.segments, Buffer.from(row.chain), Buffer.from(row.hash));
  }

  #readHead(): Head {
    const value = this.#db.prepare('SELECT value FROM meta WHERE key = ?').pluck();
    return {
      seq: value.get('head_seq') as number,
      time: value.get('head_time') as number,
      hash: value.get('head_hash') as Buffer,
    };
  }

  #recover(): void {
    try {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      this.#head = this.#readHead();
    } catch {
      // The disk is still failing. The head stays what it was before the transaction; the next one tries again.
    }
  }
}

const port = parentPort;
if (port !== null) {
  const writer = new Writer(workerData as WriterSetup);
  port.on('message', (request: WriterRequest | HandedRows) => {
    if ('rows' in request) return writer.take(request);
    port.postMessage(writer.run(request));
    if (request.task.kind === 'close') port.close();
    return undefined;
  });
  port.postMessage('ready');
}
