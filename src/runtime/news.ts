// What is to be recorded, as a function of the state at its turn: what a source says is compared with the state after
// everything recorded before, in slices between which the event loop turns.

import type { Unrecorded } from '../core/event.ts';
import type { State } from '../core/state.ts';
import type { Clock } from './clock.ts';
import type { Progress } from './progress.ts';

/** Candidates for facts that are examined in one tick of the event loop: a few milliseconds. */
export const NEWS_SLICE = 1_000;
/** Nor is a further one examined in a tick that has taken this long: two versions of a megabyte may be compared. */
export const NEWS_SLICE_MS = 10;

/** The facts to record at a state. Undefined elements mark progress, so that large lists are examined in slices. */
export type News = (state: State) => Iterable<Unrecorded | undefined>;

/** Collects the facts; the caller sees to it that the state does not change meanwhile. */
export async function collectFacts(
  news: News,
  state: State,
  progress: Pick<Progress, 'pause'>,
  clock: Pick<Clock, 'now'>,
): Promise<readonly Unrecorded[]> {
  const facts: Unrecorded[] = [];
  let taken = 0;
  let sliceEnd = clock.now() + NEWS_SLICE_MS;
  for (const fact of news(state)) {
    if (fact !== undefined) facts.push(fact);
    const isLong = clock.now() >= sliceEnd;
    if (++taken % NEWS_SLICE !== 0 && !isLong) continue;
    await progress.pause();
    // Where a connection was read an immediate still comes in the same pass of the event loop.
    if (isLong) await progress.pause();
    sliceEnd = clock.now() + NEWS_SLICE_MS;
  }
  return facts;
}
