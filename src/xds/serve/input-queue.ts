// The inputs of one stream, handled one after another in the order of `add`. Most are ACKs and write callbacks, which
// are handled synchronously; a promise is made only for an input that has to wait.
//
// Invariant: `handle` is never called while an earlier input is being handled.

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
    for (let input = this.#waiting.shift(); input !== undefined; input = this.#waiting.shift()) {
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
}
