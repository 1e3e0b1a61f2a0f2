// The way from one state to a later one, many events at once, leaving states on the way at the positions that are kept.
//
// Invariant: each state is the one that folding event by event gives (law 6). Should restoring many at once fail, by
// an assertion of ours that an event before it is to blame for, the events are folded one by one: the fold then names
// and skips the guilty one.

import { fold } from '../core/fold/fold-event.ts';
import { Restoring } from '../core/fold/restore.ts';
import type { State } from '../core/state.ts';
import { JournalFault } from '../journal/fault.ts';
import type { Journal } from '../journal/journal.ts';
import { unforgotten } from '../offline/load-state.ts';

export interface Way {
  readonly journal: Journal;
  readonly from: State;
  /** Seq. */
  readonly to: number;
  readonly rejected: ReadonlySet<number>;
  /** A state is made at multiples of it, and given to `onState`. */
  readonly step: number;
  readonly onState: (state: State) => void;
  readonly onProgress?: ((seq: number) => void) | undefined;
  /** Awaited between pages. */
  readonly pause?: (() => Promise<void>) | undefined;
}

/** The state at `to`. Rejects with a JournalFault. */
export async function foldAlong(way: Way): Promise<State> {
  try {
    return await manyAtOnce(way);
  } catch (error) {
    if (error instanceof JournalFault) throw error;
    return oneByOne(way);
  }
}

async function manyAtOnce({ journal, from, to, rejected, step, onState, onProgress, pause }: Way): Promise<State> {
  let restoring = new Restoring(from);
  for await (const page of unforgotten(journal, from.seq, journal.readUnparsed({ from: from.seq + 1, to }))) {
    for (const event of page) {
      restoring.event(event, rejected);
      if (event.seq % step !== 0 || event.seq === to) continue;
      const state = restoring.finish();
      onState(state);
      restoring = new Restoring(state);
    }
    onProgress?.(restoring.seq);
    await pause?.();
  }
  return restoring.finish();
}

async function oneByOne({ journal, from, to, rejected, step, onState, onProgress }: Way): Promise<State> {
  let state = from;
  for await (const page of unforgotten(journal, from.seq, journal.read({ from: from.seq + 1, to }))) {
    for (const event of page) {
      state = fold(state, event, rejected, false).state;
      if (state.seq % step === 0) onState(state);
    }
    onProgress?.(state.seq);
  }
  return state;
}
