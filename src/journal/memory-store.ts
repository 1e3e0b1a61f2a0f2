// A store in memory, with the same hashing as the file: for tests, for `generate`, for anything that needs a journal
// and keeps none.

import { CHAIN_START, chainHash, columnSums } from './chain.ts';
import { PAGE_CHARS_MAX, PAGE_EVENTS_MAX } from './journal.ts';
import { spansOfGroup } from './object-ref.ts';
import {
  type Group,
  type RawRow,
  type RawSegment,
  type Row,
  type SegmentRow,
  type SnapshotRow,
  type Store,
  type StoredBase,
  type StoredHead,
  unreadable,
  unreadableRow,
} from './store.ts';

interface MemoryRow extends Row {
  readonly sums: Buffer;
  readonly bytes: Buffer;
}

export class MemoryStore implements Store {
  readonly path = 'memory';
  readonly readonly = false;
  #base: StoredBase = { seq: 0, hash: CHAIN_START };
  readonly #rows: MemoryRow[] = [];
  readonly #snapshots = new Map<number, SnapshotRow>();
  readonly #segments = new Map<number, SegmentRow[]>();
  #head: StoredHead = { seq: 0, time: 0, hash: CHAIN_START };
  #keyCheck: string | undefined;

  get base(): StoredBase {
    return this.#base;
  }

  head(): StoredHead {
    return this.#head;
  }

  recordedHead(): StoredHead {
    return this.#head;
  }

  keyCheck(): string | undefined {
    return this.#keyCheck;
  }

  acknowledged(): number | undefined {
    return undefined;
  }

  async commit(group: Group): Promise<StoredHead> {
    const unfit = unreadableRow(group);
    if (unfit !== undefined) throw unreadable(this.path, unfit);
    // As a worker does, a turn later: a caller must not come to depend on less.
    await Promise.resolve();
    let { hash } = this.#head;
    let seq = group.firstSeq;
    for (const [time, source, kind, body] of group.rows) {
      hash = chainHash(hash, seq, time, source, kind, body);
      const sums = columnSums(time, source, kind, body);
      this.#rows.push({ seq, time, source, kind, body, hash: hash.toString('hex'), bytes: hash, sums });
      this.#head = { seq, time, hash };
      seq += 1;
    }
    this.#keyCheck ??= group.keyCheck;
    return this.#head;
  }

  page(from: number, to: number): readonly Row[] {
    const rows: Row[] = [];
    let chars = 0;
    for (const row of this.#between(from, Math.min(to, from + PAGE_EVENTS_MAX - 1))) {
      rows.push(row);
      chars += row.body.length;
      if (chars >= PAGE_CHARS_MAX) break;
    }
    return rows;
  }

  ofKinds(kinds: readonly string[], from: number, to: number): readonly Row[] {
    return this.#between(from, to).filter(row => kinds.includes(row.kind));
  }

  containing(text: string, from: number, to: number, group?: string): readonly Row[] {
    const rows = this.#between(from, to).filter(({ body }) => body.includes(text));
    if (group === undefined) return rows;
    const { others, own } = spansOfGroup(group);
    const isIn = (body: string, [first, before]: readonly [string, string]): boolean => body >= first && body < before;
    return rows.filter(({ body }) => !isIn(body, others) || isIn(body, own));
  }

  #between(from: number, to: number): readonly MemoryRow[] {
    return this.#rows.slice(Math.max(from - 1 - this.#base.seq, 0), Math.max(to - this.#base.seq, 0));
  }

  rawPage(after: number): readonly RawRow[] {
    const from = Math.max(after - this.#base.seq, 0);
    return this.#rows.slice(from, from + PAGE_EVENTS_MAX).map(row => ({
      ...row,
      source: Buffer.from(row.source),
      kind: Buffer.from(row.kind),
      body: Buffer.from(row.body),
      hash: row.bytes,
    }));
  }

  seqsOf(kind: string, from: number, to: number): readonly number[] {
    return this.#rows.filter(row => row.kind === kind && row.seq >= from && row.seq <= to).map(({ seq }) => seq);
  }

  hashAt(seq: number): Buffer | undefined {
    return this.#rowAt(seq)?.bytes;
  }

  timeAt(seq: number): number | undefined {
    return this.#rowAt(seq)?.time;
  }

  snapshots(): readonly SnapshotRow[] {
    return [...this.#snapshots.values()].sort((a, b) => a.seq - b.seq);
  }

  unfinishedSnapshots(): readonly number[] {
    return [...this.#segments.keys()].filter(seq => !this.#snapshots.has(seq));
  }

  segment(seq: number, number: number): RawSegment | undefined {
    const segment = this.#segments.get(seq)?.[number - 1];
    return segment === undefined ? undefined : { ...segment, body: Buffer.from(segment.body) };
  }

  async writeSegment(seq: number, segment: SegmentRow, keyCheck: string | undefined): Promise<void> {
    const segments = this.#segments.get(seq) ?? [];
    segments.push(segment);
    this.#segments.set(seq, segments);
    this.#keyCheck ??= keyCheck;
  }

  async writeSnapshot(row: SnapshotRow): Promise<void> {
    this.#snapshots.set(row.seq, row);
  }

  async dropSnapshot(seq: number): Promise<void> {
    this.#snapshots.delete(seq);
    this.#segments.delete(seq);
  }

  async trim(to: number): Promise<boolean> {
    const base = this.#rowAt(to);
    if (base === undefined) return false;
    this.#rows.splice(0, to - this.#base.seq);
    this.#base = { seq: to, hash: base.bytes };
    for (const seq of this.#snapshots.keys()) if (seq <= to) this.#snapshots.delete(seq);
    return false;
  }

  async shrink(): Promise<void> {
    await Promise.resolve();
  }

  #rowAt(seq: number): MemoryRow | undefined {
    return this.#rows[seq - 1 - this.#base.seq];
  }

  check(): readonly string[] {
    return [];
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}
