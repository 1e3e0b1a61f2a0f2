// Long looks are cut into slices, so that no other stream, timer or health check waits for the first proxy of a namespace. Streams take turns:
// one that has to make something new goes on with it slice by slice, those behind it mostly find everything made.
//
// A slice is a number of pieces of work and not of milliseconds: where it ends depends on nothing but what was asked. All looks between two
// turns of the event loop share one.

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Runs of queries and generators, and encodings, between two turns of the event loop: some ten milliseconds. */
export const SLICE_WORK = 300;

/** `value` undefined: there is more to do. */
export type Slice<T> = (allowance: number) => { readonly value: T | undefined; readonly left: number };

export class ViewTurns {
  readonly #work: number;
  readonly #waiting: (() => void)[] = [];
  #taken = false;
  #left: number;
  #refilling = false;
  /** Slices that were not enough, since the start. */
  cuts = 0;

  constructor(work = SLICE_WORK) {
    this.#work = work;
    this.#left = work;
  }

  /** First come, first served; no promise if it is done at once. Throws or rejects with what the slice throws. */
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

  /** After a slice that was not enough. */
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
