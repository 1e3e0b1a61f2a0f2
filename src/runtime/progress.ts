// Does work that was begun go on? Each slice of it is a step; work without a step for STUCK_MS is stuck: a commit that
// never ends, a promise that nothing resolves. `/live` then fails, and the process is started anew. A loop that does
// not turn at all answers nothing, which a probe notices by its time-out.
//
// Waiting for a journal that cannot be written is a step, too: a restart would not mend it.

import type { Clock } from './clock.ts';

export const STUCK_MS = 60_000;

export class Progress {
  readonly #clock: Pick<Clock, 'now'>;
  #under = 0;
  #lastStep = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Resolves or rejects as `work` does. */
  async of<T>(work: () => Promise<T>): Promise<T> {
    this.#under++;
    this.step();
    try {
      return await work();
    } finally {
      this.#under--;
    }
  }

  step(): void {
    this.#lastStep = this.#clock.now();
  }

  /** Between two slices of work: lets the event loop turn. */
  pause(): Promise<void> {
    this.step();
    return new Promise(resolve => setImmediate(resolve));
  }

  /** Milliseconds since the last step of work that is under way; 0: it goes on, or there is none. */
  get stuckMs(): number {
    const ms = this.#under === 0 ? 0 : this.#clock.now() - this.#lastStep;
    return ms >= STUCK_MS ? ms : 0;
  }
}
