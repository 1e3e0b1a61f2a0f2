// How much work the next slice may do of something that begins anew in each slice and finds again what the earlier ones
// have finished (tracker.ts, `within`).
//
// Finding things again is no progress. A slice therefore has room for what the last one found and for as much again,
// so finding is at most half of the work. It also grows a little with each slice, since a query may walk through its
// inputs without asking for anything; not beyond GROWTH_MAX, so that no slice holds the event loop for long. Only after
// one in which nothing was finished is the next twice as large, so that every work ends.

import type { Slice } from './work-budget.ts';

/** Room for what the last slice found, in units of that. */
const ROOM_FOR_FOUND = 2;
/** Slices after which one is twice as large as the first. */
const SLICES_TO_DOUBLE = 16;
const GROWTH_MAX = 4;

export class SliceGrowth {
  #found = 0;
  #slices = 0;
  /** Slices in a row in which nothing was finished. */
  #vain = 0;

  /** The budget of the next slice, whose own work may be `allowance`. */
  budget(allowance: number): number {
    const growth = Math.min(GROWTH_MAX, 1 + this.#slices / SLICES_TO_DOUBLE) * 2 ** this.#vain;
    return allowance * growth + this.#found * ROOM_FOR_FOUND;
  }

  /**
   * After an unfinished slice. `advanced`: it ended a part of the work, which no other slice begins again; so what it
   * found was progress.
   */
  cut({ found, finished }: Slice<unknown>, advanced = false): void {
    this.#found = advanced ? 0 : found;
    this.#slices = advanced ? 0 : this.#slices + 1;
    this.#vain = advanced || finished > 0 ? 0 : this.#vain + 1;
  }
}
