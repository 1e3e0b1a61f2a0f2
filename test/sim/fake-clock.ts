// Time that moves only when told to, and timers that fire in the order in which they are due (equal ones in the order
// of setting).

import type { Clock, Timer } from '../../src/runtime/clock.ts';

interface Pending {
  readonly at: number;
  readonly ticket: number;
  readonly run: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  #tickets = 0;
  readonly #pending = new Map<number, Pending>();

  constructor(start = 1_750_000_000_000) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): Timer {
    const ticket = ++this.#tickets;
    this.#pending.set(ticket, { at: this.#now + Math.max(0, ms), ticket, run });
    return { cancel: () => void this.#pending.delete(ticket) };
  }

  /** Timers that have not fired. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Goes to the next timer and fires it, if it is due by `until`; else goes to `until` and says false. */
  next(until: number): boolean {
    let first: Pending | undefined;
    for (const one of this.#pending.values()) if (first === undefined || one.at < first.at) first = one;
    if (first === undefined || first.at > until) {
      this.#now = Math.max(this.#now, until);
      return false;
    }
    this.#pending.delete(first.ticket);
    this.#now = Math.max(this.#now, first.at);
    first.run();
    return true;
  }

  /** When the next timer is due; undefined: there is none. */
  get nextAt(): number | undefined {
    let at: number | undefined;
    for (const one of this.#pending.values()) if (at === undefined || one.at < at) at = one.at;
    return at;
  }

  /** Forgets every timer: the process that set them is dead. */
  clear(): void {
    this.#pending.clear();
  }
}

/** Lets everything run that needs no time to pass. */
export async function settle(turns = 12): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise<void>(resolve => setImmediate(resolve));
}
