// Turns of the event loop between pieces of the work on what was read.

import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Resolves when timers and connections had their turn. Where something was read or a thread answered, immediates are
 * still run in the same pass of the event loop: only the second one comes after the others.
 */
export async function othersHadTheirTurn(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
