// What is to be recorded, as a function of the state at its turn: what a source says is compared with the state after
// everything recorded before, in slices between which the event loop turns.

import type { Unrecorded } from '../core/event.ts';
import type { State } from '../core/state.ts';
import type { Progress } from './progress.ts';

/** Candidates for facts that are examined in one tick of the event loop: a few milliseconds. */
export const NEWS_SLICE = 1_000;

/** The facts to record at a state. Undefined elements mark progress, so that large lists are examined in slices. */
export type News = (state: State) => Iterable<Unrecorded | undefined>;

/** Collects the facts; the caller sees to it that the state does not change meanwhile. */
export async function collectFacts(
  news: News,
  state: State,
  progress: Pick<Progress, 'pause'>,
): Promise<readonly Unrecorded[]> {
  const facts: Unrecorded[] = [];
  let taken = 0;
  for (const fact of news(state)) {
    if (fact !== undefined) facts.push(fact);
    if (++taken % NEWS_SLICE === 0) await progress.pause();
  }
  return facts;
}
