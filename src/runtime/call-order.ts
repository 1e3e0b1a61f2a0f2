// Keeps calls in order while some of them have to prepare something first: a call waits for the preparation of those
// before it. One that prepares nothing and finds none under preparation is made at once.

export class CallOrder {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** `make` is called with what `prepare` resolves with; if that rejects, this call rejects and the next is made. */
  async call<P>(prepare: (() => Promise<P>) | undefined, make: (prepared?: P) => Promise<unknown>): Promise<void> {
    if (prepare === undefined && this.#waiting === 0) {
      await make();
      return;
    }
    let made: Promise<unknown> | undefined;
    this.#waiting++;
    const turn = this.#last.then(async () => {
      const prepared = await prepare?.();
      made = make(prepared);
      // Its caller has the reason.
      made.catch(() => undefined);
    });
    this.#last = turn.catch(() => undefined).then(() => this.#waiting--);
    await turn;
    await made;
  }
}
