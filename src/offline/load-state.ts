// From a journal to a state: the newest snapshot and the events after it, or all events. Used at start and by replay.

import { createHash } from 'node:crypto';
import { assert } from '../core/base/assert.ts';
import { canonicalJson } from '../core/base/json.ts';
import type { Effect } from '../core/effect.ts';
import type { Event } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import type { UnreadVersion } from '../core/fold/record.ts';
import { Restoring } from '../core/fold/restore.ts';
import { RestoringBeside } from '../core/fold/restore-beside.ts';
import { SNAPSHOT_FORMAT, snapshotOf } from '../core/fold/snapshot.ts';
import { emptyState, type State } from '../core/state.ts';
import { JournalFault } from '../journal/fault.ts';
import type { Journal } from '../journal/journal.ts';

export interface HistoryOptions {
  /** Start from the newest snapshot instead of the first event. */
  readonly fromSnapshot: boolean;
  /** Fold up to and including this seq; default: the head. */
  readonly to?: number;
  /** Called after each event. May return a promise to be awaited. */
  readonly onEvent?: (before: State, event: Event, after: State, effects: readonly Effect[]) => void | Promise<void>;
  readonly onProgress?: (seq: number, to: number) => void;
  /**
   * Called with seq and message if an event cannot be folded and the journal has no `Rejected` for it: a bug of ours.
   */
  readonly onFailure?: (seq: number, message: string) => void;
}

export interface FoldedHistory {
  readonly state: State;
  /** seq of the snapshot that folding started from; 0 if none. */
  readonly snapshot: number;
  readonly events: number;
}

/** Rejects with a JournalFault if the journal cannot be read. */
export async function foldHistory(journal: Journal, options: HistoryOptions): Promise<FoldedHistory> {
  const to = options.to ?? journal.head().seq;
  const base = journal.base().seq;
  const start = await startOf(journal, options.fromSnapshot, to);
  const snapshot = start?.seq ?? 0;
  const from = snapshot + 1;
  if (from > to) return { state: start ?? emptyState, snapshot, events: 0 };
  const rejected = await rejectedIn(journal, from);
  const range = { from, to };
  const after = start?.seq ?? base;
  const limits = { ...options, to };
  // If restoring all at once fails (a bug of ours), fold one by one, to find the event that is to blame.
  const before = start ?? emptyState;
  const foldOneByOne = (): Promise<State> =>
    oneByOne(unforgotten(journal, after, journal.read(range)), before, rejected, limits);
  const state =
    options.onEvent === undefined
      ? await allAtOnce(unforgotten(journal, after, journal.readUnparsed(range)), before, rejected, limits).catch(
          foldOneByOne,
        )
      : await foldOneByOne();
  return { state, snapshot, events: to - snapshot };
}

/**
 * The pages of events after event `after`. Faults: `no-such-seq` if a compaction meanwhile forgot the first of them:
 * reading a journal begins behind what is forgotten, so a fold would leave it out.
 */
export async function* unforgotten<E extends { readonly seq: number }>(
  journal: Journal,
  after: number,
  pages: AsyncIterable<readonly E[]>,
): AsyncGenerator<readonly E[]> {
  const check = (first: number | undefined): void => {
    if (first === after + 1 || journal.base().seq <= after) return;
    throw new JournalFault('no-such-seq', 'a compaction forgot this event meanwhile; ask again', {
      path: journal.path,
      seq: after + 1,
    });
  };
  let isFirst = true;
  for await (const page of pages) {
    if (isFirst) check(page[0]?.seq);
    isFirst = false;
    yield page;
  }
  if (isFirst) check(undefined);
}

type Folding<E> = (
  pages: AsyncIterable<readonly E[]>,
  from: State,
  rejected: ReadonlySet<number>,
  options: HistoryOptions & { readonly to: number },
) => Promise<State>;

/** Used if no caller needs the states in between. */
const allAtOnce: Folding<Event | UnreadVersion> = async (pages, from, rejected, { onProgress, onFailure, to }) => {
  const restoring = new Restoring(from);
  for await (const page of pages) {
    for (const event of page) {
      const failure = restoring.event(event, rejected);
      if (failure !== undefined) onFailure?.(event.seq, failure);
    }
    onProgress?.(restoring.seq, to);
  }
  return restoring.finish();
};

const oneByOne: Folding<Event> = async (pages, from, rejected, { onEvent, onProgress, onFailure, to }) => {
  let state = from;
  for await (const page of pages) {
    for (const event of page) {
      const folded = fold(state, event, rejected);
      if (folded.failure !== undefined) onFailure?.(event.seq, folded.failure);
      const wait = onEvent?.(state, event, folded.state, folded.effects);
      state = folded.state;
      if (wait !== undefined) await wait;
    }
    onProgress?.(state.seq, to);
  }
  return state;
};

/** A compacted journal begins with a snapshot, which alone holds what was before its first event. */
async function startOf(journal: Journal, fromSnapshot: boolean, to: number): Promise<State | undefined> {
  const base = journal.base().seq;
  const start = fromSnapshot || base > 0 ? await readSnapshot(journal, fromSnapshot ? to : base + 1) : undefined;
  if (start === undefined && base > 0 && journal.head().seq > base) {
    throw new JournalFault(
      'damaged',
      'the journal begins after this event, and the snapshot that it needs is missing',
      {
        path: journal.path,
        seq: base,
      },
    );
  }
  return start;
}

/**
 * The state of the newest intact snapshot up to `atMost`; undefined if there is none that this release can read. What
 * it has in common with `near`, a state of the same journal, is not made again.
 */
export async function readSnapshot(journal: Journal, atMost: number, near?: State): Promise<State | undefined> {
  const snapshot = await journal.snapshots.read(atMost);
  if (snapshot === undefined || snapshot.info.format > SNAPSHOT_FORMAT) return undefined;
  const restoring = near === undefined ? new Restoring(emptyState) : new RestoringBeside(near);
  try {
    for await (const page of snapshot.facts) {
      for (const { source, fact } of page) restoring.fact(source, fact);
    }
    const state = restoring.finish();
    assert(state.seq === snapshot.info.seq, `a state of event ${state.seq}`);
    return state;
  } catch (error) {
    if (error instanceof JournalFault) throw error;
    // Its hashes are right, and its facts none that a state gives.
    const why = error instanceof Error ? error.message : String(error);
    throw new JournalFault('damaged', `the snapshot here holds what no state gives (${why})`, {
      path: journal.path,
      seq: snapshot.info.seq,
    });
  }
}

/** The seqs to skip. `Rejected` facts are recorded after the events that they name. `to`: default the head. */
export async function rejectedIn(journal: Journal, from: number, to?: number): Promise<ReadonlySet<number>> {
  const rejected = new Set<number>();
  for (const seq of await journal.seqsOf('Rejected', { from, ...(to === undefined ? {} : { to }) })) {
    for await (const [record] of journal.records({ from: seq, to: seq })) {
      if (record !== undefined) rejected.add((JSON.parse(record.body) as { rejected: number }).rejected);
    }
  }
  return rejected;
}

/** What the newest snapshot says of the events before it. Undefined: there is none that this release can read. */
export async function rejectedBefore(
  journal: Journal,
): Promise<{ readonly seq: number; readonly rejected: readonly number[] } | undefined> {
  const snapshot = await journal.snapshots.read();
  if (snapshot === undefined || snapshot.info.format > SNAPSHOT_FORMAT) return undefined;
  const rejected: number[] = [];
  for await (const page of snapshot.facts) {
    for (const { fact } of page) if (fact.kind === 'Rejected') rejected.push(Number(fact.seq));
  }
  return { seq: snapshot.info.seq, rejected };
}

/** sha256 over the canonical facts of a state: equal states, equal hashes, on any machine (law 1). Hex. */
export function stateHash(state: State): string {
  const hash = createHash('sha256');
  for (const { source, fact } of snapshotOf(state)) hash.update(`${source} ${canonicalJson(fact)}\n`);
  return hash.digest('hex');
}
