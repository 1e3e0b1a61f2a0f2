// Work that comes in a crowd, so much of it in a turn of the event loop that nothing else has to wait for long.
//
// Invariant: in order, and never in the turn in which it came.

export class BatchPerTick<T> {
  readonly #batchSize: number;
  readonly #work: (one: T) => void;
  #waiting: T[] = [];

  /** `work` must not throw. */
  constructor(aTurn: number, work: (one: T) => void) {
    this.#batchSize = aTurn;
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
