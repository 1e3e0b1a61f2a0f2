// What follows from a write that the transport has taken (the session's next step, metrics) waits until the bytes of all others are out: HTTP/2 hands
// connection after connection to the operating system and says so in between, and what is done there is what the last proxy waits for.
//
// Invariant: in order, in a turn of the event loop after the one in which it was said; so many a turn that nothing else has to wait for long.

/** Some 20 µs each. */
export const AFTER_A_TURN = 250;

export interface Later {
  afterwards(): void;
}

export class Afterwards {
  #waiting: Later[] = [];

  later(one: Later): void {
    if (this.#waiting.push(one) === 1) setImmediate(() => this.#turn());
  }

  #turn(): void {
    const all = this.#waiting;
    const now = all.length <= AFTER_A_TURN ? all : all.slice(0, AFTER_A_TURN);
    this.#waiting = all.length <= AFTER_A_TURN ? [] : all.slice(AFTER_A_TURN);
    if (this.#waiting.length > 0) setImmediate(() => this.#turn());
    for (const one of now) one.afterwards();
  }
}
