// The journal: every fact, durable, ordered and hash-chained before anything acts on it. It never interprets.
//
// This is the interface that everything above sees; open.ts (SQLite), memory-journal.ts and later a shared log
// implement it. Invariants: seq is dense; time never decreases; what `append` resolves with is exactly what `read`
// gives later (so that the live fold and every replay fold the same values); an event is visible to anyone only after
// it has been committed.

import type { JsonObject } from '../core/base/json.ts';
import type { Event, ObjectRef, Unrecorded } from '../core/event.ts';
import type { UnreadVersion } from '../core/fold/record.ts';

/** Appended events that are not committed yet; beyond either limit `append` waits for room before it takes a seq. */
export const QUEUE_EVENTS_MAX = 20_000;
export const QUEUE_CHARS_MAX = 64 * 1024 * 1024;
/** Calls of `append` that may wait for room; one more is refused with `overloaded`. */
export const QUEUE_WAITING_MAX = 1_024;
/** Events committed in one transaction. A single larger batch still is one transaction. */
export const GROUP_EVENTS_MAX = 5_000;
/** The JSON text of one fact. */
export const BODY_CHARS_MAX = 64 * 1024 * 1024;
/** Levels of arrays and objects in one fact. */
export const BODY_DEPTH_MAX = 1_000;
/** A page of `read` ends at whichever limit comes first. */
export const PAGE_EVENTS_MAX = 1_000;
export const PAGE_CHARS_MAX = 8 * 1024 * 1024;

/** Milliseconds since the epoch. */
export type Clock = () => number;

/**
 * What survives a power cut. kill -9 loses nothing that was acknowledged in any setting.
 * `full`: every acknowledged event. `normal`: all but the last moments before the cut. `off`: the file may be damaged.
 */
export type Durability = 'full' | 'normal' | 'off';

/** A point of the chain: the last event up to and including `seq`. */
export interface ChainPoint {
  readonly seq: number;
  /** Hex sha256. */
  readonly hash: string;
}

/** Both ends included. */
export interface Lost {
  readonly from: number;
  readonly to: number;
}

export interface Head extends ChainPoint {
  /** Of the last event; 0 in an empty journal. */
  readonly time: number;
}

/** Both ends included. `to` left out: up to the head at the time of the call. */
export interface Range {
  readonly from: number;
  readonly to?: number;
}

/** An event as it is stored. */
export interface StoredEvent {
  readonly seq: number;
  readonly time: number;
  readonly source: string;
  readonly kind: string;
  /** Canonical JSON of the fact without `kind` and `source`. */
  readonly body: string;
  /** Hex sha256 of the chain up to this event. */
  readonly hash: string;
}

/** A fact of another journal on its way into this one, with the time at which it was recorded first. */
export interface Carried {
  readonly source: string;
  readonly kind: string;
  /** As it is stored. */
  readonly body: string;
  readonly time: number;
  /** Parsed when it is asked for, if `ref` is there. */
  readonly fact: Unrecorded;
  /** The object that it is a version of, found without parsing. */
  readonly ref?: ObjectRef;
}

export interface ReadRange extends Range {
  /**
   * Events that are not wanted are left out, and cost neither parsing nor unsealing; the chain is checked over them,
   * too.
   */
  readonly wanted?: (seq: number) => boolean;
}

export interface RecordsRange extends Range {
  /**
   * `sealed` (default): bodies exactly as stored and hashed. `redacted`: private values replaced by placeholders;
   * `hash` then is still the one of the stored event (exportJournal re-chains).
   */
  readonly secrets?: 'sealed' | 'redacted';
  /** Of this kind, or of these, only. The others are not even read, so that one that is missing is not noticed. */
  readonly kind?: string | readonly string[];
  /** Only those whose stored body has this text. The others are not noticed either. Not together with `kind`. */
  readonly containing?: string;
  /** With `containing`: objects of other API groups are left out, which is cheap. */
  readonly group?: string;
}

/** One thing that `verify` found wrong. */
export interface Finding {
  /** `unreadable`: hashed as it is, and nothing that a journal writes. */
  readonly kind: 'changed' | 'unreadable' | 'hole' | 'time-went-back' | 'lost-tail' | 'snapshot' | 'meta' | 'file';
  /** The event or snapshot concerned; absent for the file as a whole. */
  readonly seq?: number;
  /** e.g. `event.body`, `snapshot_segment.hash`, `meta.head_hash`. */
  readonly column?: string;
  readonly message: string;
}

export interface Verdict {
  readonly ok: boolean;
  /** How many events and snapshots were looked at. */
  readonly events: number;
  readonly snapshots: number;
  readonly head: Head;
  /** In the order found; at most VERIFY_FINDINGS_MAX. */
  readonly findings: readonly Finding[];
}

/** A canonical fact of a snapshot; the journal does not look into it, except to seal private values. */
export interface SnapshotFact {
  readonly source: string;
  readonly fact: JsonObject;
}

export interface SnapshotInfo {
  /** Everything up to and including this event is in the snapshot. */
  readonly seq: number;
  /** The caller's format number. */
  readonly format: number;
  /** Time of the event at `seq`. */
  readonly time: number;
  readonly facts: number;
  readonly segments: number;
  /** The chain hash at `seq`, hex. */
  readonly chain: string;
  /** Content hash, hex. */
  readonly hash: string;
}

export interface Snapshot {
  readonly info: SnapshotInfo;
  /** In the order in which they were written. Can be iterated once. */
  readonly facts: AsyncIterable<readonly SnapshotFact[]>;
  /** Newer snapshots that were passed over because they are damaged. */
  readonly skipped: readonly Finding[];
}

export interface Snapshots {
  /**
   * Taken slice by slice from the iterable, which may be lazy; appends go on in between. A snapshot of the same seq is
   * replaced; one that is interrupted leaves nothing. Faults: `no-such-seq` if seq is above the head, and as for
   * `append`.
   */
  write(snapshot: {
    readonly seq: number;
    readonly format: number;
    readonly facts: Iterable<SnapshotFact>;
  }): Promise<SnapshotInfo>;
  /**
   * The newest intact snapshot with seq ≤ `atMost` (default: the head). `secrets`: private values unsealed when the key
   * is there (default), exactly as stored, or replaced by placeholders.
   */
  read(atMost?: number, secrets?: 'unsealed' | 'sealed' | 'redacted'): Promise<Snapshot | undefined>;
  /** Ascending by seq. */
  list(): Promise<readonly SnapshotInfo[]>;
  drop(seq: number): Promise<void>;
}

export interface CompactOptions {
  /**
   * Give what was freed back to the system, which stops writing for as long as copying the rest takes. Default: true;
   * otherwise it is used for new events.
   */
  readonly shrink?: boolean;
  readonly onProgress?: (done: number, of: number) => void;
}

export interface Follow {
  /** Resolves when `onEvents` will not be called again; so do not await it inside `onEvents`. */
  stop(): Promise<void>;
  /** Resolves after `stop` or `close`; rejects if reading failed or `onEvents` threw. */
  readonly done: Promise<void>;
}

export interface Journal {
  /** The file, or `memory`. */
  readonly path: string;
  readonly readonly: boolean;
  /** The last committed event. */
  head(): Head;
  /** Where the chain starts: seq 0, or the last event that compaction removed. */
  base(): ChainPoint;
  /**
   * Events that were acknowledged once and were not in the file when it was opened: the write-ahead log was cut off, or
   * an older copy stands in the file's place. Their seqs are given anew.
   */
  lost(): Lost | undefined;
  /**
   * One batch is one piece: all of it is stored or nothing. Seq and time (max of the previous time and the clock) are
   * given in the order of the calls, and the promises resolve in that order, after the commit. Rejects with a
   * JournalFault; after `write-failed` every append that was queued behind it is rejected too, none of it is stored,
   * and a later append is tried anew.
   */
  append(batch: readonly Unrecorded[]): Promise<readonly Event[]>;
  /**
   * The facts as `append` would hand them out, without storing them: what has to be folded while nothing can be stored
   * must be what will be stored later. Faults: `unfit-fact`.
   */
  asStored(facts: readonly Unrecorded[]): readonly Unrecorded[];
  /** The facts as lines of JSON with private values sealed, for a place outside the journal. Faults: `unfit-fact`. */
  toLines(facts: readonly Unrecorded[]): readonly string[];
  /** Back from `toLines` of this journal. Faults: `damaged`. */
  fromLines(lines: readonly string[]): readonly Unrecorded[];
  /**
   * Lines of a journal with the same key, to be appended here. Objects are looked into only as far as their names.
   * Faults: `damaged`, `unfit-fact`.
   */
  carriedFrom(lines: readonly string[], time: number): readonly Carried[];
  /** As `append`, with the time of each fact (or that of the event before, if it is later), and objects unparsed. */
  appendCarried(batch: readonly Carried[]): Promise<readonly (Event | UnreadVersion)[]>;
  /**
   * Pages of events in seq order, private values unsealed when the key is there. The chain is checked on the way
   * (`damaged`).
   */
  read(range: ReadRange): AsyncIterable<readonly Event[]>;
  /**
   * As `read`, but objects are not parsed until somebody looks into them, where they can be told from others without:
   * for readers that need few of many versions. The chain is checked all the same.
   */
  readUnparsed(range: Range): AsyncIterable<readonly (Event | UnreadVersion)[]>;
  /** As `read`, but as stored: for listing, exporting and looking into. The chain is not checked. */
  records(range: RecordsRange): AsyncIterable<readonly StoredEvent[]>;
  /** When the event was recorded. Undefined: there is no such event. Much cheaper than reading it. */
  timeAt(seq: number): number | undefined;
  /** Seqs of the events of a kind, ascending. Much cheaper than reading them. */
  seqsOf(kind: string, range: Range): Promise<readonly number[]>;
  /**
   * Every committed event from `from` on, once, in order, now and in future; waits while `onEvents` returns a pending
   * promise.
   */
  follow(from: number, onEvents: (events: readonly Event[]) => void | Promise<void>): Follow;
  readonly snapshots: Snapshots;
  /**
   * Forgets every event before the snapshot at `seq`, and every older snapshot. In slices, each a transaction of its
   * own: wherever it ends, by a crash or a fault, the journal is whole, only longer than wanted. Faults: `no-such-seq`
   * if there is no intact snapshot at `seq`.
   */
  compact(seq: number, options?: CompactOptions): Promise<void>;
  /** Reads everything. Needs no key. Never throws because of what it finds. */
  verify(onProgress?: (done: number, of: number) => void): Promise<Verdict>;
  /** Hex digest that tells which key seals this journal; undefined while nothing was sealed. */
  keyCheck(): string | undefined;
  /** Waits for what is queued, then closes. Further calls get `closed`. */
  close(): Promise<void>;
}
