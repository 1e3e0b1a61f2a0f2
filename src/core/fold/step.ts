// The result of folding one event: the next state, and what the runtime has to do about it.

import type { Effect } from '../effect.ts';
import type { State } from '../state.ts';

export type Step = readonly [State, readonly Effect[]];
