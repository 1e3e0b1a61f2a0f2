// Validates large reviews away from the event loop, one at a time, in a thread that has a budget of time and of memory.
// The thread is started by the first review; it ends when it has been idle for a while, and when a review goes past the
// budget.

import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../journal/start-worker.ts';
import type { Validation } from './validation.ts';

/** Time for one review by the clock, the start of the thread included: what the API server waits by default. */
export const VALIDATION_MS_MAX = 10_000;
export const VALIDATION_HEAP_MIB = 512;
/** Quiet time after which the thread ends. */
export const VALIDATION_IDLE_MS = 10_000;

export interface ValidationBudget {
  readonly ms: number;
  readonly heapMiB: number;
  readonly idleMs: number;
}

const BUDGET: ValidationBudget = {
  ms: VALIDATION_MS_MAX,
  heapMiB: VALIDATION_HEAP_MIB,
  idleMs: VALIDATION_IDLE_MS,
};
const SCRIPT = new URL(import.meta.url.endsWith('.ts') ? './review-thread.ts' : './review-thread.js', import.meta.url);

export class ValidationThread {
  readonly #budget: ValidationBudget;
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(budget: ValidationBudget = BUDGET) {
    this.#budget = budget;
  }

  get isRunning(): boolean {
    return this.#thread !== undefined;
  }

  /** Not before the one before is over. Rejects with why there is no verdict, in words that follow "the review". */
  async validate(body: Uint8Array): Promise<Validation> {
    if (this.#closed) throw new Error('comes while the program is stopping');
    clearTimeout(this.#idle);
    const thread = this.#thread ?? this.#start();
    try {
      return await this.#answerOf(thread, body);
    } catch (error) {
      await this.#end();
      throw error;
    } finally {
      this.#idle = setTimeout(() => void this.#end(), this.#budget.idleMs);
      this.#idle.unref();
    }
  }

  /** Gives up what is running; what comes later is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end();
  }

  #start(): Worker {
    const thread = startWorker(SCRIPT, undefined, { maxOldGenerationSizeMb: this.#budget.heapMiB });
    this.#thread = thread;
    // One that ends while it is idle is replaced by the next review.
    const lost = (): void => {
      if (this.#thread === thread) this.#thread = undefined;
    };
    return thread.on('error', lost).on('exit', lost);
  }

  #answerOf(thread: Worker, body: Uint8Array): Promise<Validation> {
    const { ms, heapMiB } = this.#budget;
    return new Promise((resolve, reject) => {
      const settle = (end: () => void): void => {
        clearTimeout(timer);
        thread.off('message', heard).off('error', failed).off('exit', ended).unref();
        end();
      };
      const fail = (why: string): void => settle(() => reject(new Error(why)));
      const heard = (answer: Validation): void => settle(() => resolve(answer));
      const failed = (error: Error & { readonly code?: string }): void =>
        fail(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? `needs more than ${heapMiB} MiB to be validated`
            : `cannot be validated: ${error.message}`,
        );
      const ended = (): void => fail('has no verdict: its thread ended');
      const timer = setTimeout(() => fail(`takes longer than ${Math.ceil(ms / 1000)} s to validate`), ms);
      thread.on('message', heard).on('error', failed).on('exit', ended).ref();
      thread.postMessage(body);
    });
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }
}
