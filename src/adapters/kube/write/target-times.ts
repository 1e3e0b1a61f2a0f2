// When a target may be written again: after a write as soon as the watch shows a change, after a failure when its wait
// is over, after too many changes by another writer when it has rested. One timer at most.

import type { Chance } from '../../kit/clock.ts';
import { RETRY_AFTER_MS_MAX } from '../limits.ts';
import { FLIP_REST_MS, FLIP_WINDOW_MS, FLIPS_MAX, RETRY_MS_MAX, RETRY_MS_MIN, SEEN_MS_MAX } from './limits.ts';

export class TargetTimes {
  readonly #chance: Chance;
  #dueAt = 0;
  /** A change that the watch shows ends the wait. */
  #isAwaited = false;
  #failures = 0;
  #timer: { cancel(): void } | undefined;
  /** Written and seen as wished; then it was no more. */
  #wasFulfilled = false;
  #flips: number[] = [];

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** False: not yet; `again` runs when it is. */
  isDue(again: () => void): boolean {
    const ms = this.#dueAt - this.#chance.now();
    if (ms <= 0) return true;
    this.#wake(ms, again);
    return false;
  }

  /** Another wish: what was waited for is of no account. */
  reset(): void {
    this.#dueAt = 0;
    this.#isAwaited = false;
    this.#failures = 0;
    this.#wasFulfilled = false;
    this.#flips = [];
  }

  /** The watch showed the object. */
  seen(): void {
    if (!this.#isAwaited) return;
    this.#isAwaited = false;
    this.#dueAt = 0;
  }

  fulfilled(): void {
    this.#failures = 0;
    this.#wasFulfilled = true;
  }

  /** Each write that nothing was seen of doubles the wait. */
  written(again: () => void): void {
    this.#await(SEEN_MS_MAX * 2 ** Math.min(this.#failures, 4), again);
    this.#failures++;
    this.#isAwaited = true;
  }

  failed(again: () => void, retryAfterMs = 0): void {
    const full = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(this.#failures, 16));
    const ms = full / 2 + (this.#chance.random() * full) / 2;
    this.#failures++;
    this.#isAwaited = false;
    this.#await(Math.max(ms, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX)), again);
  }

  /** Call when a write is due: true if what was fulfilled was undone too often. */
  isFlipping(): boolean {
    if (!this.#wasFulfilled) return false;
    this.#wasFulfilled = false;
    const now = this.#chance.now();
    this.#flips = [...this.#flips.filter(at => now - at < FLIP_WINDOW_MS), now];
    return this.#flips.length > FLIPS_MAX;
  }

  rest(again: () => void): void {
    this.#flips = [];
    this.#isAwaited = false;
    this.#await(FLIP_REST_MS, again);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #await(ms: number, again: () => void): void {
    this.#dueAt = this.#chance.now() + ms;
    this.#wake(ms, again);
  }

  #wake(ms: number, again: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#chance.after(ms, again);
  }
}
