// Views with a list of tens of thousands of resources that the client does not hold. To list their versions, the step
// of the session and the response each take as long as a slice of the evaluation, so each has a turn of the event loop.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResourceSet } from '../engine/resource-set.ts';
import type { SessionInput, Versions, View } from '../session/session.ts';

/** A set of more resources takes turns. */
export const LONG_SET_MIN = 16_384;

export type Sets = ReadonlyMap<string, ResourceSet>;

export function viewAt(stateSeq: number, aliased: Sets): View {
  const sets = new Map<string, Versions>();
  for (const [typeUrl, set] of aliased) sets.set(typeUrl, set.versions);
  return { stateSeq, sets, aliased };
}

/** What `evaluated` gives: at once, unless the view has a long list that the one before did not have. */
export function evaluatedInTurns(
  view: Sets,
  before: Sets,
  evaluated: () => SessionInput,
): Promise<SessionInput> | SessionInput {
  for (const [typeUrl, set] of view) {
    if (set.size > LONG_SET_MIN && before.get(typeUrl) !== set) return betweenTurns(evaluated);
  }
  return evaluated();
}

async function betweenTurns(evaluated: () => SessionInput): Promise<SessionInput> {
  await nextTurn();
  const input = evaluated();
  await nextTurn();
  return input;
}
