// What nothing rests on any more is forgotten, piece by piece: between two pieces anything may be asked or change. A value goes if it was not
// used lately and no other value calls it; with it go, as soon as nobody else calls them, the values that it called.
//
// Invariant: after each piece every value that can be found is told of changes, as is every value that it calls. So there is no set of marks that
// could be out of date, and a sweep that is never finished does no harm.

import { isEmpty } from '../base/small-set.ts';
import type { InputMemo } from './memo.ts';
import type { VariantsBook } from './track-book.ts';
import { type Entry, unlink } from './track-entry.ts';
import type { FacetBook } from './track-facets.ts';
import type { ReadIndex } from './track-reads.ts';

/** What a tracker remembers. */
export interface Memory {
  /** All that were made and not unlinked; also such as another one with the same audience displaced. */
  readonly entries: Set<Entry>;
  readonly variants: VariantsBook;
  readonly index: ReadIndex<Entry>;
  readonly memos: readonly InputMemo[];
  readonly facets: FacetBook;
}

/** Yields after each piece. Forgets what was used neither in this generation nor in the one before. `forgot` is called for each value. */
export function* sweeping(memory: Memory, generation: number, forgot: () => void): IterableIterator<undefined, void> {
  const { entries, variants, index, memos, facets } = memory;
  const old = (entry: Entry): boolean => entry.usedIn < generation - 1;
  const idle = (entry: Entry): boolean => old(entry) && isEmpty(entry.callers);
  const keep = (entry: Entry): void => {
    for (const cell of entry.made) cell.usedIn = generation;
    for (const { token } of entry.calls) if (token !== undefined) token.usedIn = generation;
    for (const [facet, value] of entry.audience) facets.keep(facet, value);
  };
  function* forget(first: Entry): IterableIterator<undefined, void> {
    const doomed = [first];
    for (let entry = doomed.pop(); entry !== undefined; entry = doomed.pop()) {
      // It may have been asked for since it was found idle.
      if (!idle(entry)) continue;
      entry.home.delete(entry);
      entries.delete(entry);
      unlink(entry);
      forgot();
      for (const call of entry.calls) if (idle(call.entry)) doomed.push(call.entry);
      yield;
    }
  }

  for (const entry of entries) {
    if (idle(entry)) yield* forget(entry);
    else keep(entry);
    yield;
  }
  yield* variants.sweeping();
  yield* index.sweeping();
  for (const memo of memos) yield* memo.sweeping(generation);
  facets.sweep();
}
