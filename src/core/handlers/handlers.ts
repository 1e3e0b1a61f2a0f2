// What a change of one object asks to be pushed: the handler of its kind, under Istio's name for it, compares before and after.

import type { PushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import type { Change } from './change.ts';
import { configHandler } from './config.ts';

/** Undefined: nothing that any proxy could see has changed. */
export function changeHandler(_before: State, _after: State, change: Change): PushRequest | undefined {
  return configHandler(change);
}
