// What follows from a write that the transport has taken (the session's next step, metrics) waits until the bytes of all others are out: HTTP/2 hands
// connection after connection to the operating system and says so in between, and what is done there is what the last proxy waits for.

import { BatchPerTick } from './batch-per-tick.ts';

/** Some 20 µs each. */
export const COMPLETIONS_PER_TICK = 250;

export interface Completion {
  complete(): void;
}

export class DeferredCompletions extends BatchPerTick<Completion> {
  constructor() {
    super(COMPLETIONS_PER_TICK, one => one.complete());
  }
}
