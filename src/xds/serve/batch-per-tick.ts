// Work that comes in a crowd, so much of it in a turn of the event loop that nothing else has to wait for long.
//
// Invariant: in order, and never in the turn in which it came.

export class FewATurn<T> {
  readonly #aTurn: number;
  readonly #work: (one: T) => void;
  #waiting: T[] = [];

  /** `work` must not throw. */
  constructor(aTurn: number, work: (one: T) => void) {
    this.#aTurn = aTurn;
    this.#work = work;
  }

  later(one: T): void {
    if (this.#waiting.push(one) === 1) setImmediate(() => this.#turn());
  }

  #turn(): void {
    const now = this.#waiting.slice(0, this.#aTurn);
    this.#waiting = this.#waiting.slice(this.#aTurn);
    if (this.#waiting.length > 0) setImmediate(() => this.#turn());
    for (const one of now) this.#work(one);
  }
}
