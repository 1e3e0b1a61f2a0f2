// The journal over any store: encoding and sealing on the way in, checking and unsealing on the way out, followers,
// closing.
//
// Reading is synchronous, page by page, on the caller's thread: parsing dominates, and its results are needed there.
// Between pages it yields to the event loop.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonicalJson } from '../core/base/json.ts';
import type { Event, Unrecorded } from '../core/event.ts';
import type { UnreadVersion } from '../core/fold/record.ts';
import { AppendQueue } from './append-queue.ts';
import { LineReader, lineOf } from './carried.ts';
import { chainHashHex } from './chain.ts';
import { decodeEvent, encodeFact, encodingFact } from './codec.ts';
import { EncodingLine } from './encoding-line.ts';
import { JournalFault } from './fault.ts';
import { Follower } from './follower.ts';
import type {
  Carried,
  ChainPoint,
  Clock,
  CompactOptions,
  Follow,
  Head,
  Journal,
  Lost,
  Range,
  ReadRange,
  RecordsRange,
  Snapshots,
  StoredEvent,
  Verdict,
} from './journal.ts';
import { StoreSnapshots } from './snapshots.ts';
import { type Row, type Store, TRIM_EVENTS_MAX } from './store.ts';
import { bodyOf } from './stored-body.ts';
import { unreadObject } from './unread.ts';
import type { Vault } from './vault.ts';
import { verifyStore } from './verify.ts';

/** Interval at which a read-only journal looks for events of another process. */
export const FOLLOW_POLL_MS = 200;
/** Events searched for a kind in one tick of the event loop: a few milliseconds. */
const SCAN_EVENTS = 20_000;
/** Events searched for one kind in one tick of the event loop: about three milliseconds. */
const KIND_SCAN_EVENTS = 10_000;

export class JournalOnStore implements Journal {
  readonly path: string;
  readonly readonly: boolean;
  readonly snapshots: Snapshots;
  readonly #store: Store;
  readonly #vault: Vault;
  readonly #lost: Lost | undefined;
  readonly #queue: AppendQueue;
  readonly #line: EncodingLine;
  readonly #reader: LineReader;
  readonly #followers = new Set<Follower>();
  #poll: NodeJS.Timeout | undefined;
  #closed: Promise<void> | undefined;

  constructor(store: Store, vault: Vault, clock: Clock) {
    this.path = store.path;
    this.readonly = store.readonly;
    this.#store = store;
    this.#vault = vault;
    this.#lost = lostOf(store);
    this.#reader = new LineReader(vault, store.path);
    this.#line = new EncodingLine(fact => encodingFact(fact, vault), store.path);
    this.#queue = new AppendQueue(
      store,
      clock,
      () => this.#newKeyCheck(),
      events => {
        for (const follower of this.#followers) follower.committed(events.every(isEvent) ? events : undefined);
      },
    );
    this.snapshots = new StoreSnapshots(store, vault, () => this.#newKeyCheck(), {
      open: () => this.#checkOpen(),
      writable: () => this.#checkWritable(),
    });
  }

  #newKeyCheck(): string | undefined {
    return this.#store.keyCheck() === undefined ? this.#vault.check : undefined;
  }

  head(): Head {
    const { seq, time, hash } = this.#store.head();
    return { seq, time, hash: hash.toString('hex') };
  }

  base(): ChainPoint {
    return { seq: this.#store.base.seq, hash: this.#store.base.hash.toString('hex') };
  }

  keyCheck(): string | undefined {
    return this.#store.keyCheck();
  }

  lost(): Lost | undefined {
    return this.#lost;
  }

  async append(batch: readonly Unrecorded[]): Promise<readonly Event[]> {
    this.#checkWritable();
    // Encode everything before queueing anything, so that an unfit fact leaves nothing behind.
    const { appended } = await this.#line.pass(batch, encoded => ({ appended: this.#queue.append(encoded) }));
    return (await appended).filter(isEvent);
  }

  carriedFrom(lines: readonly string[], time: number): readonly Carried[] {
    return lines.map(line => this.#reader.carried(line, time));
  }

  async appendCarried(batch: readonly Carried[]): Promise<readonly (Event | UnreadVersion)[]> {
    this.#checkWritable();
    await this.#line.passed();
    return this.#queue.append(batch);
  }

  asStored(facts: readonly Unrecorded[]): readonly Unrecorded[] {
    return facts.map(fact => encodeFact(fact, this.#vault).fact);
  }

  toLines(facts: readonly Unrecorded[]): readonly string[] {
    return facts.map(fact => lineOf(encodeFact(fact, this.#vault)));
  }

  fromLines(lines: readonly string[]): readonly Unrecorded[] {
    return lines.map(line => this.#reader.carried(line, 0).fact);
  }

  async *read(range: ReadRange): AsyncGenerator<readonly Event[]> {
    this.#checkOpen();
    const from = this.#clampFrom(range.from);
    let previous = this.#hashBefore(from);
    for await (const rows of this.#pages(range)) {
      previous = checkChain(previous, rows, this.path);
      const { wanted } = range;
      const chosen = wanted === undefined ? rows : rows.filter(({ seq }) => wanted(seq));
      yield chosen.map(row => decodeEvent(row, this.#vault));
    }
  }

  async *readUnparsed(range: Range): AsyncGenerator<readonly (Event | UnreadVersion)[]> {
    this.#checkOpen();
    let previous = this.#hashBefore(this.#clampFrom(range.from));
    for await (const rows of this.#pages(range)) {
      previous = checkChain(previous, rows, this.path);
      yield rows.map(row => unreadObject(row, this.#vault) ?? decodeEvent(row, this.#vault));
    }
  }

  async *records(range: RecordsRange): AsyncGenerator<readonly StoredEvent[]> {
    this.#checkOpen();
    const redact = range.secrets === 'redacted';
    const filtered = this.#filterOf(range);
    const pages = filtered === undefined ? this.#pages(range) : this.#pagesOf(filtered, range);
    for await (const rows of pages) {
      yield rows.map(row => ({
        seq: row.seq,
        time: row.time,
        source: row.source,
        kind: row.kind,
        body: redact ? this.#redacted(row) : this.#readable(row),
        hash: row.hash,
      }));
    }
  }

  #redacted(row: Row): string {
    return canonicalJson(this.#vault.redact(bodyOf(row, this.path)));
  }

  /** Objects are most of a journal, and checked by those who look into one (`bodyOf`). */
  #readable(row: Row): string {
    if (row.kind !== 'Add' && row.kind !== 'Update') bodyOf(row, this.path);
    return row.body;
  }

  timeAt(seq: number): number | undefined {
    this.#checkOpen();
    return this.#store.timeAt(seq);
  }

  async seqsOf(kind: string, { from, to }: Range): Promise<readonly number[]> {
    const end = Math.min(to ?? Number.MAX_SAFE_INTEGER, this.#store.head().seq);
    const found: number[] = [];
    for (let start = this.#clampFrom(from); start <= end; start += SCAN_EVENTS) {
      this.#checkOpen();
      found.push(...this.#store.seqsOf(kind, start, Math.min(end, start + SCAN_EVENTS - 1)));
      await nextTurn();
    }
    return found;
  }

  async *#pages(range: Range): AsyncGenerator<readonly Row[]> {
    const to = Math.min(range.to ?? Number.MAX_SAFE_INTEGER, this.#store.head().seq);
    let next = this.#clampFrom(range.from);
    while (next <= to) {
      this.#checkOpen();
      const rows = this.#store.page(next, to);
      if (rows.length === 0) throw missing(next, this.path);
      yield rows;
      next = rows.at(-1)!.seq + 1;
      if (next <= to) await nextTurn();
    }
  }

  /** Reads the rows that are asked for in a limited range; undefined: all are. */
  #filterOf({ kind, containing, group }: RecordsRange): ((from: number, to: number) => readonly Row[]) | undefined {
    if (containing !== undefined) return (from, to) => this.#store.containing(containing, from, to, group);
    if (kind === undefined) return undefined;
    const kinds = typeof kind === 'string' ? [kind] : kind;
    return (from, to) => this.#store.ofKinds(kinds, from, to);
  }

  async *#pagesOf(rowsIn: (from: number, to: number) => readonly Row[], range: Range): AsyncGenerator<readonly Row[]> {
    const to = Math.min(range.to ?? Number.MAX_SAFE_INTEGER, this.#store.head().seq);
    for (let next = this.#clampFrom(range.from); next <= to; next += KIND_SCAN_EVENTS) {
      this.#checkOpen();
      const rows = rowsIn(next, Math.min(to, next + KIND_SCAN_EVENTS - 1));
      if (rows.length > 0) yield rows;
      await nextTurn();
    }
  }

  follow(from: number, onEvents: (events: readonly Event[]) => void | Promise<void>): Follow {
    this.#checkOpen();
    const follower = new Follower(this.#clampFrom(from), next => this.#readPage(next), onEvents);
    this.#followers.add(follower);
    const forget = () => this.#followers.delete(follower);
    follower.done.then(forget, forget);
    if (this.readonly) this.#startPolling();
    return follower;
  }

  #readPage(from: number): readonly Event[] {
    const head = this.#store.head().seq;
    if (from > head) return [];
    const rows = this.#store.page(from, head);
    if (rows.length === 0) throw missing(from, this.path);
    checkChain(this.#hashBefore(from), rows, this.path);
    return rows.map(row => decodeEvent(row, this.#vault));
  }

  #startPolling(): void {
    if (this.#poll !== undefined) return;
    let seen = this.#store.head().seq;
    this.#poll = setInterval(() => {
      const head = this.#headOrUndefined();
      if (head === seen) return;
      seen = head ?? seen;
      for (const follower of this.#followers) follower.committed();
    }, FOLLOW_POLL_MS);
    this.#poll.unref();
  }

  /** An unreadable head must not end the process from a timer; followers get the fault when they read. */
  #headOrUndefined(): number | undefined {
    try {
      return this.#store.head().seq;
    } catch {
      return undefined;
    }
  }

  async verify(onProgress?: (done: number, of: number) => void): Promise<Verdict> {
    this.#checkOpen();
    return verifyStore(this.#store, onProgress);
  }

  async compact(seq: number, { shrink = true, onProgress }: CompactOptions = {}): Promise<void> {
    this.#checkWritable();
    const kept = await this.snapshots.read(seq);
    if (kept?.info.seq !== seq) {
      throw new JournalFault(
        'no-such-seq',
        'events are forgotten only before an intact snapshot, and there is none here',
        {
          path: this.path,
          seq,
        },
      );
    }
    const of = seq - 1 - this.#store.base.seq;
    let more = true;
    for (let done = TRIM_EVENTS_MAX; more; done += TRIM_EVENTS_MAX) {
      this.#checkWritable();
      more = await this.#store.trim(seq - 1);
      onProgress?.(Math.min(done, of), of);
    }
    for (const left of this.#store.unfinishedSnapshots()) {
      await this.#store.dropSnapshot(left);
      onProgress?.(of, of);
    }
    if (shrink) await this.#store.shrink();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearInterval(this.#poll);
    await this.#line.passed();
    await this.#queue.drained();
    await Promise.allSettled([...this.#followers].map(follower => follower.stop()));
    await this.#store.close();
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new JournalFault('closed', 'the journal was closed', { path: this.path });
  }

  #checkWritable(): void {
    this.#checkOpen();
    if (this.readonly) {
      throw new JournalFault('read-only', 'the journal was opened for reading only', { path: this.path });
    }
  }

  #clampFrom(from: number): number {
    return Math.max(from, this.#store.base.seq + 1);
  }

  /** Hex. */
  #hashBefore(seq: number): string {
    if (seq - 1 === this.#store.base.seq) return this.#store.base.hash.toString('hex');
    const hash = this.#store.hashAt(seq - 1);
    if (hash === undefined && seq - 1 <= this.#store.head().seq) throw missing(seq - 1, this.path);
    return (hash ?? this.#store.head().hash).toString('hex');
  }
}

function isEvent(appended: Event | UnreadVersion): appended is Event {
  return appended.kind !== 'Unread';
}

function lostOf(store: Store): Lost | undefined {
  const acknowledged = store.acknowledged() ?? 0;
  const { seq } = store.head();
  return acknowledged <= seq ? undefined : { from: seq + 1, to: acknowledged };
}

/** `previous` and the result are hex; returns the hash of the last row. */
function checkChain(start: string, rows: readonly Row[], path: string): string {
  let previous = start;
  for (const { seq, time, source, kind, body, hash } of rows) {
    if (chainHashHex(previous, seq, time, source, kind, body) !== hash) {
      throw new JournalFault('damaged', 'the chain breaks here; `journal verify` tells which column was changed', {
        path,
        seq,
      });
    }
    previous = hash;
  }
  return previous;
}

function missing(seq: number, path: string): JournalFault {
  return new JournalFault('damaged', 'this event is missing; restore the journal from a copy', { path, seq });
}
