// Time slices for evaluations, so that the first proxy of a namespace, for which everything has to be made, does not
// delay other streams, timers and health checks. Evaluations run one after another; one that is not finished continues
// in the next tick, and those behind it usually find everything memoised.
//
// A slice is counted in units of work and not in milliseconds, so its end depends only on the request. All evaluations
// between two ticks share one allowance.

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Units of work (runs of queries and generators, encodings) in one tick of the event loop: about ten milliseconds. */
export const SLICE_WORK = 300;

/**
 * Does at most about `allowance` units of work. `value` undefined: unfinished, call it again. `left`: the rest of the
 * allowance.
 */
export type Slice<T> = (allowance: number) => { readonly value: T | undefined; readonly left: number };

export class ViewTurns {
  readonly #work: number;
  readonly #waiting: (() => void)[] = [];
  #taken = false;
  #left: number;
  #refilling = false;
  /** Unfinished slices since the start. */
  cuts = 0;

  constructor(work = SLICE_WORK) {
    this.#work = work;
    this.#left = work;
  }

  /** An evaluation is unfinished or waits for its turn. */
  get isBusy(): boolean {
    return this.#taken;
  }

  /**
   * Runs `slice` until it is finished, first come first served. Synchronous if one slice is enough. Throws or rejects
   * with the slice's error.
   */
  run<T>(slice: Slice<T>): T | Promise<T> {
    if (this.#taken || this.#left <= 0) return this.#wait(slice);
    const value = this.#go(slice);
    if (value !== undefined) return value;
    this.#taken = true;
    return this.#goOn(slice);
  }

  async #wait<T>(slice: Slice<T>): Promise<T> {
    if (this.#taken) await new Promise<void>(resolve => this.#waiting.push(resolve));
    this.#taken = true;
    return this.#finish(slice);
  }

  /** Continues after an unfinished slice. */
  async #goOn<T>(slice: Slice<T>): Promise<T> {
    while (this.#refilling) await nextTurn();
    return this.#finish(slice);
  }

  async #finish<T>(slice: Slice<T>): Promise<T> {
    try {
      for (;;) {
        while (this.#left <= 0) await nextTurn();
        const value = this.#go(slice);
        if (value !== undefined) return value;
        while (this.#refilling) await nextTurn();
      }
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken = false;
      else next();
    }
  }

  #go<T>(slice: Slice<T>): T | undefined {
    const { value, left } = slice(this.#left);
    this.#left = left;
    this.#refill();
    if (value === undefined) this.cuts++;
    return value;
  }

  #refill(): void {
    if (this.#refilling || this.#left === this.#work) return;
    this.#refilling = true;
    setImmediate(() => {
      this.#refilling = false;
      this.#left = this.#work;
    });
  }
}
