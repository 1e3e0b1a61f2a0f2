// The SQLite store: writes go to the writer thread, reads use a connection of their own on the caller's thread. With
// WAL both work at the same time.

import { chainHashHex, HASH_BYTES, RowChain, SUMS_BYTES } from './chain.ts';
import { areShort } from './fact-names.ts';
import { JournalFault } from './fault.ts';
import { readHeadRecord } from './head-record.ts';
import type { Durability } from './journal.ts';
import { BODY_CHARS_MAX, PAGE_CHARS_MAX, PAGE_EVENTS_MAX } from './journal.ts';
import { spansOfGroup } from './object-ref.ts';
import type { Db } from './sqlite-driver.ts';
import { faultOf, lockFile, openForReading, openForWriting, realPath, refuseEmptied } from './sqlite-file.ts';
import type { WriterAnswer } from './sqlite-writer.ts';
import type {
  Group,
  RawRow,
  RawSegment,
  Row,
  SegmentRow,
  SnapshotRow,
  Store,
  StoredBase,
  StoredHead,
} from './store.ts';
import { isTime } from './stored-body.ts';
import { WriterLink } from './writer-link.ts';

/** The end of the chain that is checked each time a journal is opened for writing; `verify` checks all of it. */
export const OPEN_CHECK_EVENTS = 500;

/** Fewer events are not compared with the size of the file. */
const EVENTS_OF_ANY_FILE = 1_000_000;
/** Of an event: its hash and its sums. */
const ROW_BYTES_MIN = HASH_BYTES + SUMS_BYTES;

type TextTuple = readonly [number, number, string, string, string, string];
type BytesTuple = readonly [number, number, Buffer, Buffer, Buffer, Buffer, Buffer];

export interface SqliteOptions {
  readonly durability: Durability;
  readonly readonly: boolean;
  readonly fileBytesMax: number | undefined;
  /** Of a file that is created: where its chain starts. Default: before seq 1. */
  readonly start?: StoredBase;
}

/** Faults: locked, cannot-open, foreign, newer-format, damaged. */
export async function openSqliteStore(given: string, options: SqliteOptions): Promise<SqliteStore> {
  const path = realPath(given);
  if (options.readonly) return new SqliteStore(path, openForReading(path), undefined, () => undefined);
  const unlock = lockFile(path);
  try {
    refuseEmptied(path);
    openForWriting(path, options.start).close();
    const link = new WriterLink({ path, durability: options.durability, fileBytesMax: options.fileBytesMax });
    const worker = await link.start();
    worker.unref();
    return await checkedStore(path, link, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function checkedStore(path: string, link: WriterLink, unlock: () => void): Promise<SqliteStore> {
  let db: Db | undefined;
  try {
    db = openForReading(path);
    const store = new SqliteStore(path, db, link, unlock);
    store.checkTail();
    await store.finishTrim();
    return store;
  } catch (error) {
    db?.close();
    await link.close();
    throw error;
  }
}

export class SqliteStore implements Store {
  readonly path: string;
  readonly readonly: boolean;
  #base: StoredBase;
  readonly #db: Db;
  readonly #link: WriterLink | undefined;
  readonly #unlock: () => void;
  readonly #statements;
  #head: StoredHead;
  #keyCheck: string | undefined;

  constructor(path: string, db: Db, link: WriterLink | undefined, unlock: () => void) {
    this.path = path;
    this.readonly = link === undefined;
    this.#db = db;
    this.#link = link;
    this.#unlock = unlock;
    this.#statements = this.#guarded(undefined, () => prepare(db));
    this.#base = this.#readBase();
    this.#head = this.recordedHead();
    this.#keyCheck = this.#readKeyCheck();
  }

  /** Of a readonly store: as another process has left it. */
  get base(): StoredBase {
    if (this.readonly) this.#base = this.#readBase();
    return this.#base;
  }

  #readBase(): StoredBase {
    return { seq: this.#metaNumber('base_seq'), hash: this.#metaHash('base_hash') };
  }

  head(): StoredHead {
    if (this.readonly) this.#head = this.#plausible(this.recordedHead());
    return this.#head;
  }

  /** Questions go along the seqs up to the head: one that no file of this size can have would never end. */
  #plausible(head: StoredHead): StoredHead {
    const events = head.seq - this.#base.seq;
    if (events <= EVENTS_OF_ANY_FILE) return head;
    const pages = Number(this.#db.pragma('page_count', { simple: true }));
    const bytes = pages * Number(this.#db.pragma('page_size', { simple: true }));
    if (events * ROW_BYTES_MIN <= bytes) return head;
    throw this.#damaged(head.seq, `recorded as the last event, and a file of ${bytes} bytes cannot hold as many`);
  }

  recordedHead(): StoredHead {
    return {
      seq: this.#metaNumber('head_seq'),
      time: this.#metaNumber('head_time'),
      hash: this.#metaHash('head_hash'),
    };
  }

  /** Of a readonly store: also what another process has recorded since. */
  keyCheck(): string | undefined {
    if (this.readonly) this.#keyCheck ??= this.#readKeyCheck();
    return this.#keyCheck;
  }

  acknowledged(): number | undefined {
    return readHeadRecord(this.path)?.seq;
  }

  /** Deletes what an interrupted compaction has left. */
  async finishTrim(): Promise<void> {
    const { seq } = this.base;
    const first = this.#guarded(undefined, () => this.#statements.firstSeq.get() as number | null) ?? seq + 1;
    if (first <= seq) while (await this.trim(seq));
  }

  #readKeyCheck(): string | undefined {
    const value = this.#guarded(undefined, () => this.#statements.meta.get('key_check'));
    return typeof value === 'string' ? value : undefined;
  }

  /** Checks that the last events form a chain that ends at the recorded head. Faults: `damaged`. */
  checkTail(): void {
    const { seq: headSeq, hash: headHash } = this.#head;
    const last = this.#guarded(headSeq, () => this.#statements.lastSeq.get() as number | null) ?? this.base.seq;
    if (last < headSeq) throw this.#damaged(last + 1, `events are missing up to the recorded last one, ${headSeq}`);
    if (last > headSeq) throw this.#damaged(headSeq + 1, `there are events after the recorded last one, ${headSeq}`);
    const from = Math.max(headSeq - OPEN_CHECK_EVENTS, this.base.seq) + 1;
    let previous = (from - 1 === this.base.seq ? this.base.hash : this.hashAt(from - 1))?.toString('hex');
    for (let next = from; next <= headSeq; ) {
      const rows = this.page(next, headSeq);
      if (rows.length === 0 || previous === undefined) throw this.#damaged(next, 'this event is missing');
      for (const { seq, time, source, kind, body, hash } of rows) {
        if (chainHashHex(previous, seq, time, source, kind, body) !== hash) {
          throw this.#damaged(seq, 'the chain breaks here');
        }
        previous = hash;
      }
      next = rows.at(-1)!.seq + 1;
    }
    if (previous !== undefined && previous !== headHash.toString('hex'))
      throw this.#damaged(headSeq, 'it is not the recorded last');
  }

  async commit(group: Group): Promise<StoredHead> {
    try {
      const answer = await this.#ask({ kind: 'commit', group });
      this.#head = { ...answer.head, hash: Buffer.from(answer.head.hash) };
    } catch (fault) {
      this.#head = this.#headIfStored(group, fault);
    }
    this.#keyCheck ??= group.keyCheck;
    return this.#head;
  }

  /**
   * The file's head if it ends with the group: the writer thread may have died between its commit and its answer.
   * Throws `fault` if nothing of it is stored or that cannot be told, `damaged` if the file ends with another group.
   */
  #headIfStored(group: Group, fault: unknown): StoredHead {
    let head: StoredHead;
    try {
      head = this.recordedHead();
    } catch {
      throw fault;
    }
    if (head.seq === this.#head.seq) throw fault;
    const chain = new RowChain(this.#head.hash);
    for (const [i, [time, source, kind, body]] of group.rows.entries()) {
      chain.add(group.firstSeq + i, time, source, kind, body);
    }
    if (head.hash.equals(chain.hash)) return head;
    const message = `events up to ${head.seq} are stored that this process took for lost; restart it to fold them`;
    throw new JournalFault('damaged', message, { path: this.path, seq: this.#head.seq + 1 });
  }

  async writeSegment(seq: number, segment: SegmentRow, keyCheck: string | undefined): Promise<void> {
    await this.#ask({ kind: 'segment', seq, segment, keyCheck });
    this.#keyCheck ??= keyCheck;
  }

  async writeSnapshot(row: SnapshotRow): Promise<void> {
    await this.#ask({ kind: 'snapshot', row });
  }

  async dropSnapshot(seq: number): Promise<void> {
    while ((await this.#ask({ kind: 'drop', seq })).more === true);
  }

  async trim(to: number): Promise<boolean> {
    const { more } = await this.#ask({ kind: 'trim', to });
    this.#base = this.#readBase();
    return more === true;
  }

  async shrink(): Promise<void> {
    await this.#ask({ kind: 'shrink' });
  }

  #ask(task: Parameters<WriterLink['ask']>[0]): Promise<WriterAnswer> {
    if (this.#link === undefined) {
      return Promise.reject(new JournalFault('read-only', 'opened for reading only', { path: this.path }));
    }
    return this.#link.ask(task);
  }

  page(from: number, to: number): readonly Row[] {
    return this.#guarded(from, () => {
      const rows: Row[] = [];
      let chars = 0;
      let expected = from;
      for (const tuple of this.#statements.page.iterate(from, to, PAGE_EVENTS_MAX)) {
        const [seq, time, source, kind, body, hash] = tuple as TextTuple;
        // A page ends before a hole; a read from the hole on gives no rows.
        if (seq !== expected) break;
        rows.push(this.#wellTyped({ seq, time, source, kind, body, hash }));
        expected += 1;
        chars += body.length;
        if (chars >= PAGE_CHARS_MAX) break;
      }
      return rows;
    });
  }

  /** Columns have the types of the table's making, and a table from elsewhere may have others. */
  #wellTyped(row: Row): Row {
    const { seq, time, source, kind, body } = row;
    const texts = typeof source === 'string' && typeof kind === 'string' && typeof body === 'string';
    if (!texts) throw this.#damaged(seq, 'a column holds no text');
    if (!areShort(source, kind)) throw this.#damaged(seq, 'a name is longer than a journal writes');
    if (!isTime(time)) throw this.#damaged(seq, `the time ${time} is none`);
    if (body.length <= BODY_CHARS_MAX) return row;
    throw this.#damaged(seq, `the body has ${body.length} characters, more than ${BODY_CHARS_MAX}`);
  }

  ofKinds(kinds: readonly string[], from: number, to: number): readonly Row[] {
    return this.#guarded(from, () => {
      const rows = this.#statements.ofKinds.all(JSON.stringify(kinds), from, to) as readonly Row[];
      return rows.map(row => this.#wellTyped(row));
    });
  }

  containing(text: string, from: number, to: number, group?: string): readonly Row[] {
    const pattern = `*${text.replace(/[*?[]/g, '[$&]')}*`;
    return this.#guarded(from, () => {
      const { others, own } = spansOfGroup(group ?? '');
      const rows =
        group === undefined
          ? this.#statements.containing.all(pattern, from, to)
          : this.#statements.ofGroup.all(...others, ...own, pattern, from, to);
      return (rows as readonly Row[]).map(row => this.#wellTyped(row));
    });
  }

  rawPage(after: number): readonly RawRow[] {
    return this.#guarded(after, () => {
      const rows: RawRow[] = [];
      let bytes = 0;
      for (const tuple of this.#statements.rawPage.iterate(after, PAGE_EVENTS_MAX)) {
        const [seq, time, source, kind, body, sums, hash] = tuple as BytesTuple;
        rows.push({ seq, time, source, kind, body, sums, hash });
        bytes += body.length;
        if (bytes >= PAGE_CHARS_MAX) break;
      }
      return rows;
    });
  }

  seqsOf(kind: string, from: number, to: number): readonly number[] {
    return this.#guarded(from, () => this.#statements.seqsOf.all(from, to, kind) as readonly number[]);
  }

  hashAt(seq: number): Buffer | undefined {
    return this.#guarded(seq, () => this.#statements.hashAt.get(seq) as Buffer | undefined);
  }

  timeAt(seq: number): number | undefined {
    return this.#guarded(seq, () => this.#statements.timeAt.get(seq) as number | undefined);
  }

  snapshots(): readonly SnapshotRow[] {
    return this.#guarded(undefined, () => this.#statements.snapshots.all() as readonly SnapshotRow[]);
  }

  unfinishedSnapshots(): readonly number[] {
    return this.#guarded(undefined, () => this.#statements.unfinished.all() as readonly number[]);
  }

  segment(seq: number, number: number): RawSegment | undefined {
    return this.#guarded(seq, () => this.#statements.segment.get(seq, number) as RawSegment | undefined);
  }

  check(): readonly string[] {
    const rows = this.#guarded(undefined, () => this.#db.pragma('integrity_check') as { integrity_check: string }[]);
    return rows.map(row => row.integrity_check).filter(text => text !== 'ok');
  }

  async close(): Promise<void> {
    // The reader first: the last connection to close checkpoints the write-ahead log.
    this.#db.close();
    try {
      await this.#link?.close();
    } finally {
      this.#unlock();
    }
  }

  #metaNumber(key: string): number {
    const value = this.#guarded(undefined, () => this.#statements.meta.get(key));
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw this.#damaged(undefined, `the record ${key} of the journal itself is missing or not a number`);
  }

  #metaHash(key: string): Buffer {
    const value = this.#guarded(undefined, () => this.#statements.meta.get(key));
    if (Buffer.isBuffer(value)) return value;
    throw this.#damaged(undefined, `the record ${key} of the journal itself is missing or not a hash`);
  }

  #guarded<A>(seq: number | undefined, work: () => A): A {
    try {
      return work();
    } catch (error) {
      throw faultOf(error, this.path, seq);
    }
  }

  #damaged(seq: number | undefined, what: string): JournalFault {
    const advice = 'restore the file from a copy; `journal verify` tells more';
    return new JournalFault('damaged', `${what}; ${advice}`, { path: this.path, seq });
  }
}

function prepare(db: Db) {
  // Hex, because a Buffer for each row costs more than its text.
  const text = 'seq, time, source, kind, body, lower(hex(hash)) AS hash';
  const bytes = 'seq, time, CAST(source AS BLOB), CAST(kind AS BLOB), CAST(body AS BLOB), sums, hash';
  return {
    meta: db.prepare('SELECT value FROM meta WHERE key = ?').pluck(),
    firstSeq: db.prepare('SELECT min(seq) FROM event').pluck(),
    lastSeq: db.prepare('SELECT max(seq) FROM event').pluck(),
    page: db.prepare(`SELECT ${text} FROM event WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?`).raw(),
    ofKinds: db.prepare(
      `SELECT ${text} FROM event WHERE kind IN (SELECT value FROM json_each(?)) AND seq BETWEEN ? AND ? ORDER BY seq`,
    ),
    // GLOB goes from one first letter to the next; instr compares at every character and takes twice as long.
    containing: db.prepare(`SELECT ${text} FROM event WHERE body GLOB ? AND seq BETWEEN ? AND ? ORDER BY seq`),
    ofGroup: db.prepare(
      `SELECT ${text} FROM event WHERE (body < ? OR body >= ? OR (body >= ? AND body < ?)) AND body GLOB ? AND seq BETWEEN ? AND ? ORDER BY seq`,
    ),
    rawPage: db.prepare(`SELECT ${bytes} FROM event WHERE seq > ? ORDER BY seq LIMIT ?`).raw(),
    hashAt: db.prepare('SELECT hash FROM event WHERE seq = ?').pluck(),
    seqsOf: db.prepare('SELECT seq FROM event WHERE seq BETWEEN ? AND ? AND kind = ? ORDER BY seq').pluck(),
    timeAt: db.prepare('SELECT time FROM event WHERE seq = ?').pluck(),
    snapshots: db.prepare('SELECT seq, format, time, facts, segments, chain, hash FROM snapshot ORDER BY seq'),
    unfinished: db
      .prepare('SELECT DISTINCT seq FROM snapshot_segment WHERE seq NOT IN (SELECT seq FROM snapshot)')
      .pluck(),
    segment: db.prepare(
      'SELECT number, CAST(body AS BLOB) AS body, hash FROM snapshot_segment WHERE seq = ? AND number = ?',
    ),
  };
}
