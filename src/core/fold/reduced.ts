// The result of folding one event: the next state, and the effects for the runtime.

import type { Effect } from '../effect.ts';
import type { State } from '../state.ts';

export type Reduced = readonly [State, readonly Effect[]];
