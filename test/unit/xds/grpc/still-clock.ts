// Waiting for what happens on real connections while the clock of the server stands still.

import { type FakeClock, settle } from '../../../sim/fake-clock.ts';

const UNTIL_MS_MAX = 4_000;

/** A client is done before the server is. */
export async function until(holds: () => boolean, step: () => Promise<void> = () => settle(1)): Promise<void> {
  const end = performance.now() + UNTIL_MS_MAX;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`never: ${holds}`);
    await step();
  }
}

/** Moves the clock, one timer after the other. */
export async function pass(clock: FakeClock, ms: number): Promise<void> {
  const end = clock.now() + ms;
  while (clock.next(end)) await settle();
  await settle();
}
