// The inputs of one stream, handled one after another in the order of `add`. Most are ACKs and write callbacks, which
// are handled synchronously; a promise is made only for an input that has to wait. A client that sends a thousand
// requests in one packet waits for the next tick of the event loop after each INPUTS_PER_TICK of them.
//
// Invariant: `handle` is never called while an earlier input is being handled.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentTick } from './tick.ts';

/** Of one stream: a tenth of a millisecond each at most. A proxy has fewer than ten when it connects. */
export const INPUTS_PER_TICK = 16;

export interface InputHandler<T> {
  /** Undefined: done synchronously. */
  handle(input: T): Promise<void> | undefined;
  /** Nothing waits any more. */
  drained(): void;
  /** An input failed; the next ones are handled all the same. */
  failed(error: unknown): void;
}

export class InputQueue<T> {
  readonly #handler: InputHandler<T>;
  readonly #waiting: T[] = [];
  #isRunning = false;
  #tick = -1;
  #handledInTick = 0;

  constructor(handler: InputHandler<T>) {
    this.#handler = handler;
  }

  /** Inputs that wait. */
  get length(): number {
    return this.#waiting.length;
  }

  add(input: T): void {
    this.#waiting.push(input);
    if (!this.#isRunning) this.#run();
  }

  #run(): void {
    this.#isRunning = true;
    const pending = this.#handleUntilPending();
    if (pending === undefined) this.#isRunning = false;
    else void this.#runAfter(pending);
  }

  async #runAfter(first: Promise<void>): Promise<void> {
    for (let pending: Promise<void> | undefined = first; pending !== undefined; ) {
      try {
        await pending;
      } catch (error) {
        this.#handler.failed(error);
      }
      if (this.#waiting.length === 0) this.#handler.drained();
      pending = this.#handleUntilPending();
    }
    this.#isRunning = false;
  }

  /** Handles inputs until one has to wait; undefined: all are handled. */
  #handleUntilPending(): Promise<void> | undefined {
    while (this.#waiting.length > 0) {
      if (!this.#isHandledInThisTick()) return nextTurn();
      const input = this.#waiting.shift()!;
      try {
        const pending = this.#handler.handle(input);
        if (pending !== undefined) return pending;
      } catch (error) {
        this.#handler.failed(error);
      }
      if (this.#waiting.length === 0) this.#handler.drained();
    }
    return undefined;
  }

  /** Counts the next input; false: it has to wait for another tick. */
  #isHandledInThisTick(): boolean {
    const tick = currentTick();
    if (tick !== this.#tick) this.#handledInTick = 0;
    this.#tick = tick;
    return ++this.#handledInTick <= INPUTS_PER_TICK;
  }
}
