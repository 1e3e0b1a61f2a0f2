// What follows from a write that the transport has taken (the session's next step, metrics) waits until the bytes of all others are out: HTTP/2 hands
// connection after connection to the operating system and says so in between, and what is done there is what the last proxy waits for.

import { FewATurn } from './batch-per-tick.ts';

/** Some 20 µs each. */
export const AFTER_A_TURN = 250;

export interface Later {
  afterwards(): void;
}

export class Afterwards extends FewATurn<Later> {
  constructor() {
    super(AFTER_A_TURN, one => one.afterwards());
  }
}
