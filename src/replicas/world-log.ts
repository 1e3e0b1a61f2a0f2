// The world log: one ordered list of entries that several replicas follow, and what each implementation of it promises.
// JetStream is one (nats/jetstream-log.ts), the log in memory that the simulator breaks on purpose another.
//
// It orders and keeps; it does not interpret. Invariant: every follower is given the same entries in the same order.
// What a network cannot promise is part of the types: an append may have an unknown outcome, and a log may have lost
// entries that it once acknowledged. Replica (replica.ts) deals with both, so an implementation need not.

export interface LogEntry {
  /** Ascending, not dense: an implementation may need several places of its own for one entry. */
  readonly position: number;
  readonly text: string;
}

/**
 * `unknown`: no answer, so the entry may be in the log, or come into it later; repeating the append with the same id is
 * safe.
 */
export type Appended =
  | { readonly kind: 'written'; readonly position: number }
  /** Something else follows `expectedLast`; `last` is the end of the log. */
  | { readonly kind: 'conflict'; readonly last: number }
  | { readonly kind: 'unknown'; readonly why: string };

/** What a follower receives. */
export interface FollowEvents {
  /**
   * Never rejects. The next entry is given once the promise has resolved. `behind`: at least how many follow it in the
   * log already, as far as the reader knows.
   */
  onEntry(entry: LogEntry, behind: number): Promise<void>;
  /** The log has been read up to a position that belongs to no entry that was given. */
  onPassed?(position: number): void;
  /** The log can be read, or not since `since`. */
  onReachable(reachable: boolean): void;
  /** The log is not the one that was followed: it is gone, or shorter. Nothing follows. */
  onLost(why: string): void;
}

export interface WorldLog {
  /** For messages: without credentials. */
  readonly name: string;
  /**
   * Appends if `expectedLast` is the position of the last entry. Never rejects. An entry with an id that the log has
   * among its newest is not appended again.
   */
  append(text: string, expectedLast: number, id: string): Promise<Appended>;
  /** The entry at a position; undefined: there is none. Rejects if the log cannot be reached. */
  at(position: number): Promise<LogEntry | undefined>;
  /** The position of the last entry, 0 in an empty log. Rejects if the log cannot be reached. */
  last(): Promise<number>;
  /**
   * Every entry after a position, now and in future, also after the log was out of reach. Resolves `stop` when silent.
   */
  follow(after: number, events: FollowEvents): { stop(): Promise<void> };
}

/** Longest time for which a lease is good after it was last renewed. */
export const LEASE_TTL_MS = 3_000;

/** Who may write facts of the sources. It bounds how often two try; terms and positions decide who did. */
export interface Lease {
  /** Takes or renews it for LEASE_TTL_MS. Never rejects. */
  hold(holder: string): Promise<'held' | 'taken' | 'unreachable'>;
  /** Gives it back, if `holder` has it. */
  release(holder: string): Promise<void>;
}
