// Time that passes when nothing else happens: timers fire in order as soon as all tasks wait for one. Hours take
// milliseconds, and a run with the same draws is the same run.

import fc from 'fast-check';
import type { Chance } from '../../src/adapters/kit/clock.ts';

/** Turns of the event loop after which all tasks are known to wait. */
const IDLE_TURNS = 8;

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class VirtualTime implements Chance {
  #now = 1_700_000_000_000;
  #order = 0;
  #timers: Timer[] = [];
  readonly #draw: () => number;

  /** `draw`: numbers in [0, 1). */
  constructor(draw: () => number = () => 0.5) {
    this.#draw = draw;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.#draw();
  }

  after(ms: number, run: () => void): { cancel(): void } {
    const timer: Timer = { at: this.#now + ms, order: this.#order++, run };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter(other => other !== timer);
      },
    };
  }

  /** Lets `ms` pass at most; true as soon as `holds`. */
  async until(holds: () => boolean, ms: number): Promise<boolean> {
    const end = this.#now + ms;
    for (;;) {
      await turns();
      if (holds()) return true;
      const next = this.#timers.reduce<Timer | undefined>(
        (first, timer) =>
          first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order)
            ? timer
            : first,
        undefined,
      );
      if (next === undefined || next.at > end) {
        this.#now = end;
        return false;
      }
      this.#timers = this.#timers.filter(timer => timer !== next);
      this.#now = next.at;
      next.run();
    }
  }

  async pass(ms: number): Promise<void> {
    await this.until(() => false, ms);
  }
}

async function turns(): Promise<void> {
  for (let i = 0; i < IDLE_TURNS; i++) await new Promise<void>(resolve => setImmediate(resolve));
}

/** Draws that a property can shrink: the same seed, the same draws. */
export function drawsOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const seeds = fc.integer({ min: 0, max: 2 ** 31 });
