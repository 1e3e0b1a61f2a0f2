// States kept in memory along a history, so that any position is a short fold away. A state is persistent: keeping
// one costs what changed since the one before, not what there is.
//
// Invariant: at most `max` are kept, evenly spaced. At the limit every second one is dropped and the spacing doubles,
// so the fold to any position is at most one spacing long in a history of any length.

import type { State } from '../core/state.ts';

/** States kept. With a million events one stands every 4,096: about a tenth of a second of folding. */
export const CHECKPOINTS_MAX = 256;
/** Events between two states while the history is short. */
export const CHECKPOINT_EVENTS = 512;

export class Checkpoints {
  readonly #max: number;
  #spacing: number;
  /** By the multiple of the spacing that the state stands at. */
  #states = new Map<number, State>();

  constructor(max = CHECKPOINTS_MAX, spacing = CHECKPOINT_EVENTS) {
    this.#max = max;
    this.#spacing = spacing;
  }

  /** Of a history with that number of events: its spacing is the one that it ends with. */
  static along(events: number): Checkpoints {
    let spacing = CHECKPOINT_EVENTS;
    while (events > spacing * CHECKPOINTS_MAX) spacing *= 2;
    return new Checkpoints(CHECKPOINTS_MAX, spacing);
  }

  get size(): number {
    return this.#states.size;
  }

  get spacing(): number {
    return this.#spacing;
  }

  /** Keeps the state if its position is one of those that are kept. */
  consider(state: State): void {
    if (state.seq === 0 || state.seq % this.#spacing !== 0) return;
    this.#states.set(state.seq / this.#spacing, state);
    while (this.#states.size > this.#max) this.#thin();
  }

  /** All that are kept, by position. */
  states(): readonly State[] {
    return [...this.#states.values()].sort((a, b) => a.seq - b.seq);
  }

  /** The last state kept at or before `seq`. */
  before(seq: number): State | undefined {
    const last = Math.floor(seq / this.#spacing);
    let found: State | undefined;
    // The states, which are few, and not the places: a journal from elsewhere may begin at any seq.
    for (const [place, state] of this.#states) {
      if (place <= last && state.seq > (found?.seq ?? -1)) found = state;
    }
    return found;
  }

  #thin(): void {
    this.#spacing *= 2;
    const kept = new Map<number, State>();
    for (const state of this.#states.values()) {
      if (state.seq % this.#spacing === 0) kept.set(state.seq / this.#spacing, state);
    }
    this.#states = kept;
  }
}
