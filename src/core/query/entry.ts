// One memoised value of a query, linked both ways: down to the reads and calls it depends on, up to its callers.
//
// Invariant: every caller of an entry that is not `valid` is not `valid` either. So invalidation stops at the first
// caller that already is not, and a `valid` entry needs no look at what lies below it.

import { type Few, forEachOf, withOne, without } from '../base/small-set.ts';
import type { FacetKey, FacetSource } from './facet-key.ts';
import type { MemoCell } from './memo.ts';
import type { Read } from './read-index.ts';
import type { AnyQuery } from './reader.ts';
import type { Variants } from './variants.ts';

/** One call of a query by another, with the value it gave. */
export interface Call {
  readonly query: AnyQuery;
  readonly arg: unknown;
  /** The cell of the BoundSelection, if a selection was called; `arg` is then empty. */
  readonly binding: MemoCell | undefined;
  readonly value: unknown;
  /** The entry that gave `value` most recently, and its facet key at that time. */
  entry: Entry;
  facetKey: FacetKey;
}

/**
 * A selection bound to one item: the query that runs it for the item, and the values it gave. Equal items share one.
 */
export interface BoundSelection {
  readonly item: object;
  readonly query: AnyQuery;
  readonly variants: Variants<Entry>;
}

/** The calls of one `selectEach`; `calls[i]` is for `items[i]`. */
export interface CallList {
  readonly selection: object;
  readonly items: readonly object[];
  readonly calls: readonly Call[];
}

/**
 * `valid`: running the query again would give this value. `suspect`: a callee, at any depth, is invalid; the value may
 * still be right. `invalid`: a read changed, or a call gave another value; the query must run again.
 */
export type Validity = 'valid' | 'suspect' | 'invalid';

export interface Entry {
  facetKey: FacetKey;
  readonly facetSources: readonly FacetSource[];
  readonly reads: readonly Read<Entry>[];
  /** In the order of the run, with those of `callLists` among them. */
  readonly calls: readonly Call[];
  readonly callLists: readonly CallList[];
  /** Most entries have no caller or one. */
  callers: Few<Entry>;
  /** Memo cells of the generators that the run used. */
  readonly generated: readonly MemoCell[];
  readonly value: unknown;
  /** The variants that this entry is one of. */
  readonly variants: Variants<Entry>;
  validity: Validity;
  /** Dropped: no look-up finds it and no change reaches it. */
  unlinked: boolean;
  /** The sweep epoch in which it was last used. */
  usedInEpoch: number;
  /** Id of the run that called it last, so that a run records it once. */
  lastRun: number;
}

export function addCaller(entry: Entry, caller: Entry): void {
  entry.callers = withOne(entry.callers, caller);
}

export function removeCaller(entry: Entry, caller: Entry): void {
  entry.callers = without(entry.callers, caller);
}

/** A read of the entry has another value: the entry becomes invalid and all its transitive callers suspect. */
export function invalidate(entry: Entry): void {
  const before = entry.validity;
  entry.validity = 'invalid';
  if (before !== 'valid') return;
  const pending: Entry[] = [];
  const addPending = (caller: Entry): void => {
    pending.push(caller);
  };
  forEachOf(entry.callers, addPending);
  for (let caller = pending.pop(); caller !== undefined; caller = pending.pop()) {
    if (caller.validity !== 'valid') continue;
    caller.validity = 'suspect';
    forEachOf(caller.callers, addPending);
  }
}

/**
 * Detaches a dropped entry from its reads and calls. Its callers keep their link and find it invalid; by the invariant
 * none of them is valid.
 */
export function unlink(entry: Entry): void {
  entry.unlinked = true;
  entry.validity = 'invalid';
  for (const read of entry.reads) read.delete(entry);
  for (const call of entry.calls) removeCaller(call.entry, entry);
}
