// From a journal to a state: newest snapshot, then the tail; or everything from the first event. Used at start and by replay.

import { createHash } from 'node:crypto';
import type { Effect } from '../core/effect.ts';
import type { Event } from '../core/event.ts';
import { fold } from '../core/fold.ts';
import { canonicalJson } from '../core/json.ts';
import { restoreFact, SNAPSHOT_FORMAT, snapshotOf } from '../core/snapshot.ts';
import { emptyState, type State } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';

export interface HistoryOptions {
  /** Start from the newest snapshot instead of the first event. */
  readonly fromSnapshot: boolean;
  /** Fold up to and including this seq; default: the head. */
  readonly to?: number;
  /** Called after each event. May return a promise to be awaited. */
  readonly onEvent?: (before: State, event: Event, after: State, effects: readonly Effect[]) => void | Promise<void>;
  readonly onProgress?: (seq: number, to: number) => void;
  /** Called with seq and message when an event cannot be folded although the journal does not say so: our bug. */
  readonly onFailure?: (seq: number, message: string) => void;
}

export interface History {
  readonly state: State;
  /** seq of the snapshot that folding started from; 0 if none. */
  readonly snapshot: number;
  readonly events: number;
}

/** Rejects with a JournalFault if the journal cannot be read. */
export async function foldHistory(journal: Journal, options: HistoryOptions): Promise<History> {
  const to = options.to ?? journal.head().seq;
  const start = options.fromSnapshot ? await readSnapshot(journal, to) : undefined;
  let state = start ?? emptyState;
  const from = state.seq + 1;
  let events = 0;
  if (from > to) return { state, snapshot: start?.seq ?? 0, events };
  const rejected = await rejectedIn(journal, from);
  for await (const page of journal.read({ from, to })) {
    for (const event of page) {
      const folded = fold(state, event, rejected, options.onEvent !== undefined);
      if (folded.failure !== undefined) options.onFailure?.(event.seq, folded.failure);
      const wait = options.onEvent?.(state, event, folded.state, folded.effects);
      state = folded.state;
      events++;
      if (wait !== undefined) await wait;
    }
    options.onProgress?.(state.seq, to);
  }
  return { state, snapshot: start?.seq ?? 0, events };
}

/** The state of the newest intact snapshot up to `atMost`; undefined: there is none that this release can read. */
export async function readSnapshot(journal: Journal, atMost: number): Promise<State | undefined> {
  const snapshot = await journal.snapshots.read(atMost);
  if (snapshot === undefined || snapshot.info.format > SNAPSHOT_FORMAT) return undefined;
  let state = emptyState;
  for await (const page of snapshot.facts) {
    for (const { source, fact } of page) state = restoreFact(state, source, fact);
  }
  return state;
}

/** The seqs that are skipped. `Rejected` facts stand after the events they name. */
export async function rejectedIn(journal: Journal, from: number): Promise<ReadonlySet<number>> {
  const rejected = new Set<number>();
  for await (const page of journal.records({ from })) {
    for (const record of page) {
      if (record.kind === 'Rejected') rejected.add((JSON.parse(record.body) as { rejected: number }).rejected);
    }
  }
  return rejected;
}

/** sha256 over the canonical facts of a state: equal states, equal hashes, on any machine (law 1). Hex. */
export function stateHash(state: State): string {
  const hash = createHash('sha256');
  for (const { source, fact } of snapshotOf(state)) hash.update(`${source} ${canonicalJson(fact)}\n`);
  return hash.digest('hex');
}
