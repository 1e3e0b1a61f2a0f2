// What a state comes to: everything in force, the indexes, and all that three proxies would hold.

import { canonicalJson, type Json } from '../../src/core/base/json.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import type { State } from '../../src/core/state.ts';
import { foldFacts } from '../../src/offline/generate.ts';
import { connected } from '../../src/testing/facts.ts';
import { allHoldings, showHoldings } from './holdings.ts';

/** Objects in force by kind and key, and the keys of the indexes. */
export function tables(state: State): string {
  const objects = Object.values(state.objects).map(table => [...table.values()]);
  const indexes = Object.values(state.indexes).map(table => [...table.keys()]);
  return canonicalJson([objects, indexes] as unknown as Json);
}

export const PROXIES: readonly Unrecorded[] = (['sidecar-1', 'sidecar-3', 'gateway-1'] as const).map(connected);

export function held(state: State): readonly string[] {
  return showHoldings(allHoldings(foldFacts(PROXIES, state).state));
}
