// Folding for properties: the state after a history, and everything a set of proxies would be given from it.

import type { Effect } from '../../src/core/effect.ts';
import type { Event } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold/fold-event.ts';
import { emptyState, type State } from '../../src/core/state.ts';

export interface FoldedAll {
  readonly state: State;
  readonly effects: readonly Effect[];
  readonly failures: readonly string[];
}

const noneRejected: ReadonlySet<number> = new Set();

export function foldAll(events: readonly Event[], from: State = emptyState): FoldedAll {
  let state = from;
  const effects: Effect[] = [];
  const failures: string[] = [];
  for (const event of events) {
    const folded = fold(state, event, noneRejected);
    state = folded.state;
    effects.push(...folded.effects);
    if (folded.failure !== undefined) failures.push(`${event.seq} ${event.kind}: ${folded.failure}`);
  }
  return { state, effects, failures };
}
