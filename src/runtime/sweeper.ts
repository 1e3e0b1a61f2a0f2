// Sweeps memoised values that no connected proxy holds: at an interval, and early after fast growth. In slices, so that
// a sweep delays nothing.
//
// Invariant: memory is bounded by what connected proxies hold. Between two sweeps the memo grows to MEMO_GROWTH times
// what the last sweep left, or by MEMO_SPARE values, whichever is more; a value that is not held survives at most two
// sweeps.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProxyRecord } from '../core/model/proxy.ts';

/** Interval of sweeps. */
export const SWEEP_MS = 30_000;
/** Steps, of about a microsecond each, in one tick of the event loop. */
export const SWEEP_SLICE = 1_000;
/** A sweep starts early when the memo has grown by this factor since the last one … */
export const MEMO_GROWTH = 2;
/** … and by at least this many values (of queries and generators, about 3 KB each with what they refer to). */
export const MEMO_SPARE = 20_000;

/** Most consecutive timed sweeps that are postponed while streams queue for admission: about a minute. */
export const SWEEPS_PUT_OFF_MAX = 2;

export interface SweeperOptions {
  /** The engine of the server. */
  readonly memo: {
    readonly size: { readonly queries: number; readonly generated: number };
    sweeping(connected: Iterable<ProxyRecord>): Iterator<undefined, void>;
  };
  readonly connected: () => Iterable<ProxyRecord>;
  /** True: skip this timed sweep. */
  readonly holds: () => boolean;
  /** True while the processor is needed for clients; default: never. */
  readonly busy?: () => boolean;
}

export class Sweeper {
  readonly #options: SweeperOptions;
  #limit = MEMO_SPARE;
  #stopped = false;
  #putOff = 0;
  #under: Promise<void> | undefined;
  /** Finished sweeps since the start. */
  sweeps = 0;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Number of memoised values at which a sweep starts early. */
  get limit(): number {
    return this.#limit;
  }

  /** Call it every SWEEP_MS. Resolves when the sweep is finished. */
  async tick(): Promise<void> {
    const { holds, busy } = this.#options;
    if (holds()) return;
    if (busy?.() === true && this.#putOff < SWEEPS_PUT_OFF_MAX) {
      this.#putOff++;
      return;
    }
    this.#putOff = 0;
    await this.#sweep();
  }

  /** Call it after each change. */
  consider(): void {
    if (this.#values > this.#limit) void this.#sweep();
  }

  stop(): void {
    this.#stopped = true;
  }

  get #values(): number {
    const { queries, generated } = this.#options.memo.size;
    return queries + generated;
  }

  /** At most one sweep runs at a time. */
  #sweep(): Promise<void> {
    this.#under ??= this.#slices().finally(() => {
      this.#under = undefined;
    });
    return this.#under;
  }

  async #slices(): Promise<void> {
    if (await runInSlices(this.#options.memo.sweeping(this.#options.connected()), () => this.#stopped)) {
      this.sweeps++;
      this.#limit = Math.max(this.#values * MEMO_GROWTH, this.#values + MEMO_SPARE);
    }
  }
}

/** Runs the steps in slices, yielding to the event loop in between; false if it was stopped. */
export async function runInSlices(pieces: Iterator<undefined, void>, stopped: () => boolean): Promise<boolean> {
  for (let taken = 1; pieces.next().done !== true; taken++) {
    if (taken % SWEEP_SLICE === 0) await nextTurn();
    if (stopped()) return false;
  }
  return true;
}
