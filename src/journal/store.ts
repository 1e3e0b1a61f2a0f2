// What a journal needs from its storage: rows in, rows out. journal-on-store.ts does everything else once for all
// stores (seq and time, sealing, queue, following, verifying), so the SQLite file and the memory store cannot differ in
// behaviour.

import { JournalFault } from './fault.ts';
import type { SnapshotInfo, StoredEvent } from './journal.ts';
import { isJsonText } from './json-text.ts';

/** Events deleted in one transaction. */
export const TRIM_EVENTS_MAX = 2_000;

export interface StoredHead {
  readonly seq: number;
  readonly time: number;
  readonly hash: Buffer;
}

export interface StoredBase {
  readonly seq: number;
  readonly hash: Buffer;
}

/** A row without seq and hash: the group has the first seq, the store computes the hash. */
export type PendingRow = readonly [time: number, source: string, kind: string, body: string];

export interface Group {
  /** Must be the head's seq plus one. */
  readonly firstSeq: number;
  readonly rows: readonly PendingRow[];
  /** Recorded in the same transaction. */
  readonly keyCheck: string | undefined;
  /** Bodies that were not parsed: the store refuses the group (`damaged`) if one is no JSON. */
  readonly unparsed?: boolean;
}

/** The seq of the first row whose body is no JSON; undefined: there is none, or the bodies were written from values. */
export function unreadableRow({ rows, firstSeq, unparsed }: Group): number | undefined {
  if (unparsed !== true) return undefined;
  const found = rows.findIndex(([, , , body]) => !isJsonText(body));
  return found < 0 ? undefined : firstSeq + found;
}

export function unreadable(path: string, seq: number): JournalFault {
  return new JournalFault('damaged', 'a fact that was carried here is no JSON; nothing of its batch is stored', {
    path,
    seq,
  });
}

/** Private values sealed, the hash in lower case. */
export type Row = StoredEvent;

/** Text columns as the bytes that are stored. */
export interface RawRow {
  readonly seq: number;
  readonly time: number;
  readonly source: Buffer;
  readonly kind: Buffer;
  readonly body: Buffer;
  readonly sums: Buffer;
  readonly hash: Buffer;
}

export interface SnapshotRow extends Omit<SnapshotInfo, 'chain' | 'hash'> {
  readonly chain: Buffer;
  readonly hash: Buffer;
}

export interface SegmentRow {
  readonly number: number;
  readonly body: string;
  readonly hash: Buffer;
}

export interface RawSegment {
  readonly number: number;
  readonly body: Buffer;
  readonly hash: Buffer;
}

export interface Store {
  readonly path: string;
  readonly readonly: boolean;
  /** Where the chain starts; `trim` moves it. */
  readonly base: StoredBase;
  /** The committed head; a read-only store sees commits of other processes. */
  head(): StoredHead;
  /** The head as it is recorded beside the events, for verify. */
  recordedHead(): StoredHead;
  keyCheck(): string | undefined;
  /** The last event that was acknowledged, as it is known outside the store; undefined: it is not. */
  acknowledged(): number | undefined;

  /**
   * One transaction; one group at a time. Rejects with `write-failed` or `damaged`: nothing of it is stored. If the
   * file cannot be read either, that is unknown; if the group was stored, every later one is refused as `damaged`.
   */
  commit(group: Group): Promise<StoredHead>;

  /**
   * One page of rows in seq order; at most the limits of a page, at least one row if there is one. Faults: `damaged`.
   */
  page(from: number, to: number): readonly Row[];
  /** The rows of some kinds in a range of seqs, both ends included. Callers ask for limited ranges. */
  ofKinds(kinds: readonly string[], from: number, to: number): readonly Row[];
  /** As `ofKinds`: the rows whose body has this text; `group`: without those of objects of another API group. */
  containing(text: string, from: number, to: number, group?: string): readonly Row[];
  /** One page by key, also keys that should not be there: `after` exclusive. */
  rawPage(after: number): readonly RawRow[];
  /** Seqs of the events of a kind, ascending; both ends included. Reads no bodies. */
  seqsOf(kind: string, from: number, to: number): readonly number[];
  /** Undefined: no such row. */
  hashAt(seq: number): Buffer | undefined;
  timeAt(seq: number): number | undefined;

  /** Ascending by seq. */
  snapshots(): readonly SnapshotRow[];
  /** Seqs of incomplete snapshots that interrupted writes left behind. */
  unfinishedSnapshots(): readonly number[];
  segment(seq: number, number: number): RawSegment | undefined;
  writeSegment(seq: number, segment: SegmentRow, keyCheck: string | undefined): Promise<void>;
  /** Makes the segments written before it a snapshot. */
  writeSnapshot(row: SnapshotRow): Promise<void>;
  /** The snapshot row and whatever segments there are for it. */
  dropSnapshot(seq: number): Promise<void>;

  /**
   * Forgets the events up to and including `to`, and snapshots there: from the first call on the chain starts behind
   * them. What they took is freed by slices of TRIM_EVENTS_MAX. True: there are more.
   */
  trim(to: number): Promise<boolean>;
  /** Returns freed space to the file system. */
  shrink(): Promise<void>;

  /** Findings of the storage's own integrity check; empty: none. */
  check(): readonly string[];
  close(): Promise<void>;
}
