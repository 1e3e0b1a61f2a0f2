// Work that follows a finished write (the session's next step, metrics) is deferred until the bytes of all other
// streams are out. HTTP/2 calls back between handing one connection and the next to the operating system, so work done
// in the callback would delay the last proxy.

import { BatchPerTick } from '../../net/batch-per-tick.ts';

/** About 20 µs each. */
export const COMPLETIONS_PER_TICK = 250;

export interface Completion {
  complete(): void;
}

export class DeferredCompletions extends BatchPerTick<Completion> {
  constructor() {
    super(COMPLETIONS_PER_TICK, one => one.complete());
  }
}
