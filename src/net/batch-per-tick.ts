// Runs queued work in batches, one batch for each tick of the event loop, so that a crowd of items does not delay
// anything else for long.
//
// Invariant: first in, first out; an item never runs in the tick in which it was added.

export class BatchPerTick<T> {
  readonly #batchSize: number;
  readonly #work: (one: T) => void;
  #waiting: T[] = [];

  /** `work` must not throw. */
  constructor(batchSize: number, work: (one: T) => void) {
    this.#batchSize = batchSize;
    this.#work = work;
  }

  add(one: T): void {
    if (this.#waiting.push(one) === 1) setImmediate(() => this.#runBatch());
  }

  #runBatch(): void {
    const now = this.#waiting.slice(0, this.#batchSize);
    this.#waiting = this.#waiting.slice(this.#batchSize);
    if (this.#waiting.length > 0) setImmediate(() => this.#runBatch());
    for (const one of now) this.#work(one);
  }
}
