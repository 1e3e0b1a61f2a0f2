// Folding with law 8 on: if one of our assertions fails, the state before stays and the event is skipped; the runtime
// then records `Rejected` for it, and every release skips it in a replay.

import type { Effect } from '../effect.ts';
import type { Event } from '../event.ts';
import { reduce } from '../reduce.ts';
import type { State } from '../state.ts';

export interface Folded {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** Our bug, if folding this event failed for the first time. */
  readonly failure?: string;
}

/**
 * `rejected`: seqs that the journal records as rejected. `ask`: whether effects are wanted (reduce.ts); when the states
 * in between are not either, see restore.ts.
 */
export function fold(state: State, event: Event, rejected: ReadonlySet<number>, ask = true): Folded {
  const skipped: State = { ...state, seq: event.seq, time: event.time };
  if (rejected.has(event.seq)) return { state: skipped, effects: [] };
  try {
    const [next, effects] = reduce(state, event, ask);
    return { state: next, effects };
  } catch (error) {
    return { state: skipped, effects: [], failure: error instanceof Error ? error.message : String(error) };
  }
}
