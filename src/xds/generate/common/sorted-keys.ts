// The keys of a map in their order. A map may have tens of thousands: its keys are listed, which costs a third of
// listing its entries, and a large one is sorted by a generator of its own before what is made of it asks.

import { listKeys, sortedKeysOf } from '../../../core/base/keys.ts';
import type { Generator } from '../../../core/query/memo.ts';

type Members = Readonly<Record<string, unknown>>;

const LARGE = 8_192;
/** Keys that are sorted in about the time of one run of a query. */
const KEYS_PER_WORK_UNIT = 64;

export function sortedKeys(map: Members | undefined): readonly string[] {
  if (map === undefined) return nothing;
  listKeys(map);
  return sortedKeysOf(map);
}

/** The keys of a wide map are kept: going through them, even to stop soon, costs as much as listing them. */
export function isLargeMap(map: Members | undefined): map is Members {
  return map !== undefined && listKeys(map).length >= LARGE;
}

/** Of a large map: `sortedKeys` finds them afterwards. */
export const largeMapKeys: Generator<{ readonly map: Members }, readonly string[]> = {
  name: 'common/largeMapKeys',
  run: ({ map }) => sortedKeys(map),
  work: ({ length }) => length / KEYS_PER_WORK_UNIT,
};

const nothing: readonly never[] = [];
