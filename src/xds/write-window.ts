// The global window of responses being written, and the gate for new streams: both keep a stampede (a thousand proxies reconnecting)
// from holding the memory or the event loop. First come, first served.

import type { HostClock } from './host.ts';

export class WriteWindow {
  readonly #clock: HostClock;
  readonly #size: number;
  readonly #holdMs: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(clock: HostClock, size: number, holdMs: number) {
    this.#clock = clock;
    this.#size = size;
    this.#holdMs = holdMs;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * A place in the window, when there is one; call the result when the write is over. After the hold time the place is given away and
   * `onSlow` called: the reader is slow, others need not be.
   */
  async take(onSlow: () => void): Promise<() => void> {
    if (this.#taken >= this.#size) await new Promise<void>(resolve => this.#waiting.push(resolve));
    else this.#taken++;
    let held = true;
    const giveBack = (): void => {
      if (!held) return;
      held = false;
      timer.cancel();
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken--;
      else next();
    };
    const timer = this.#clock.after(this.#holdMs, () => {
      giveBack();
      onSlow();
    });
    return giveBack;
  }
}

/** Those that have to wait are let in together, so often. What they need at the same time is made, recorded and committed once for all of them. */
export const GATE_TURN_MS = 200;

/** Lets `perSecond` through: one that comes when nobody waits at once, the others at the next turn after their time has come. */
export class Gate {
  readonly #spacingMs: number;
  readonly #waitMsMax: number;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, waitMsMax: number) {
    this.#spacingMs = 1_000 / perSecond;
    this.#waitMsMax = waitMsMax;
  }

  /** Milliseconds to wait for one's turn; undefined: the queue is too long. */
  enter(now: number): number | undefined {
    const at = Math.max(now, this.#nextAt);
    if (at - now > this.#waitMsMax) return undefined;
    this.#nextAt = at + this.#spacingMs;
    return at === now ? 0 : Math.ceil(at / GATE_TURN_MS) * GATE_TURN_MS - now;
  }
}
