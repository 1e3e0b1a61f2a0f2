// Forgets what no connected proxy can reach: now and then, and at once when much has gathered since the last time. Piece by piece, so that nothing
// waits for it.
//
// What is remembered is bounded by what connected proxies hold: between two sweeps it grows to MEMO_GROWTH times what the last one left, or by
// MEMO_SPARE values, whichever is more, and what nobody holds outlives two sweeps.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProxyRecord } from '../core/model/proxy.ts';

/** How often a sweep begins. */
export const SWEEP_MS = 30_000;
/** Pieces, of about a microsecond each, between two turns of the event loop. */
export const SWEEP_SLICE = 1_000;
/** A sweep begins early when so many times the values that the last one left are there … */
export const MEMO_GROWTH = 2;
/** … and so many more: values of queries and of generators together, some 3 KB each with what hangs on them. */
export const MEMO_SPARE = 20_000;

/** Sweeps that are due by the clock and put off, one after another, while others need the processor more: a minute of new streams. */
export const SWEEPS_PUT_OFF_MAX = 2;

export interface SweeperOptions {
  /** The engine that serves. */
  readonly memo: {
    readonly size: { readonly queries: number; readonly generated: number };
    sweeping(connected: Iterable<ProxyRecord>): Iterator<undefined, void>;
  };
  readonly connected: () => Iterable<ProxyRecord>;
  /** Whether a sweep that is due by the clock is left out this time. */
  readonly holds: () => boolean;
  /** Others need the processor more; default: never. */
  readonly busy?: () => boolean;
}

export class Sweeper {
  readonly #options: SweeperOptions;
  #limit = MEMO_SPARE;
  #stopped = false;
  #putOff = 0;
  #under: Promise<void> | undefined;
  /** Sweeps finished, since the start. */
  sweeps = 0;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Values remembered at which a sweep begins early. */
  get limit(): number {
    return this.#limit;
  }

  /** To be called every SWEEP_MS. Resolves when the sweep is over. */
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

  /** To be called after each change. */
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

  /** One at a time. */
  #sweep(): Promise<void> {
    this.#under ??= this.#slices().finally(() => {
      this.#under = undefined;
    });
    return this.#under;
  }

  async #slices(): Promise<void> {
    if (await inSlices(this.#options.memo.sweeping(this.#options.connected()), () => this.#stopped)) {
      this.sweeps++;
      this.#limit = Math.max(this.#values * MEMO_GROWTH, this.#values + MEMO_SPARE);
    }
  }
}

/** Takes the pieces, with turns of the event loop in between; false if it was stopped. */
export async function inSlices(pieces: Iterator<undefined, void>, stopped: () => boolean): Promise<boolean> {
  for (let taken = 1; pieces.next().done !== true; taken++) {
    if (taken % SWEEP_SLICE === 0) await nextTurn();
    if (stopped()) return false;
  }
  return true;
}
