// The garbage collection of the tracker, in small steps. An entry is dropped if it has no caller and was used neither
// in this epoch nor in the previous one; its callees follow once they meet the same condition. Between two steps the
// tracker may be used and the state may change.
//
// Invariant: after each step, every entry that a look-up can find is linked to its reads and calls, as are the entries
// it calls. Liveness is decided when an entry is reached, by its callers and its epoch; no set of marks exists that
// could be outdated, so an unfinished sweep does no harm.

import { isEmpty } from '../base/small-set.ts';
import { type Entry, unlink } from './entry.ts';
import type { FacetRegistry } from './facets.ts';
import type { InputMemo } from './memo.ts';
import type { ReadIndex } from './read-index.ts';
import type { VariantIndex } from './variant-index.ts';

/** Everything a tracker keeps. */
export interface Memory {
  /** Every entry that is not unlinked, including those displaced in `variants` by one with an equal facet key. */
  readonly entries: Set<Entry>;
  readonly variants: VariantIndex;
  readonly index: ReadIndex<Entry>;
  readonly memos: readonly InputMemo[];
  readonly facets: FacetRegistry;
}

/** Yields after each step. Calls `onDropped` for each dropped entry. */
export function* sweeping(memory: Memory, epoch: number, onDropped: () => void): IterableIterator<undefined, void> {
  const { entries, variants, index, memos, facets } = memory;
  const old = (entry: Entry): boolean => entry.usedInEpoch < epoch - 1;
  const idle = (entry: Entry): boolean => old(entry) && isEmpty(entry.callers);
  const touch = (entry: Entry): void => {
    for (const cell of entry.generated) cell.usedInEpoch = epoch;
    for (const { binding } of entry.calls) if (binding !== undefined) binding.usedInEpoch = epoch;
    for (const [facet, value] of entry.facetKey) facets.touch(facet, value);
  };
  function* drop(first: Entry): IterableIterator<undefined, void> {
    const candidates = [first];
    for (let entry = candidates.pop(); entry !== undefined; entry = candidates.pop()) {
      // It may have been used or called since it was pushed.
      if (!idle(entry)) continue;
      entry.variants.delete(entry);
      entries.delete(entry);
      unlink(entry);
      onDropped();
      for (const call of entry.calls) if (idle(call.entry)) candidates.push(call.entry);
      yield;
    }
  }

  for (const entry of entries) {
    if (idle(entry)) yield* drop(entry);
    else touch(entry);
    yield;
  }
  yield* variants.sweeping();
  yield* index.sweeping();
  for (const memo of memos) yield* memo.sweeping(epoch);
  facets.sweep();
}
