// Lists of resource names that subscriptions share: the sidecars of a namespace subscribe to the same six hundred
// clusters, 30 KB of names each. A list is recorded once; subscriptions refer to it by digest.
//
// Invariant: a list is kept while a connected proxy's subscription refers to it, and dropped with the last. A list with
// no use yet is kept: it is recorded right before the first subscription to it, and a snapshot may be taken in between.

import type { Table } from '../table.ts';

export interface NameList {
  /** Sorted, no repeats. */
  readonly names: readonly string[];
  /** Subscriptions that refer to this list. */
  readonly uses: number;
}

/** By digest. */
export type NameLists = Table<NameList>;

/** Adds a list; one with the digest already there is left as it is. */
export function withList(lists: NameLists, digest: string, names: readonly string[]): NameLists {
  if (lists.has(digest)) return lists;
  return lists.with(digest, { names: isSorted(names) ? names : [...new Set(names)].sort(), uses: 0 });
}

export function withUse(lists: NameLists, digest: string | undefined): NameLists {
  const list = digest === undefined ? undefined : lists.get(digest);
  return list === undefined || digest === undefined ? lists : lists.with(digest, { ...list, uses: list.uses + 1 });
}

export function withoutUses(lists: NameLists, digests: readonly (string | undefined)[]): NameLists {
  let left = lists;
  for (const digest of digests) {
    const list = digest === undefined ? undefined : left.get(digest);
    if (list === undefined || digest === undefined) continue;
    left = list.uses > 1 ? left.with(digest, { ...list, uses: list.uses - 1 }) : left.without(digest);
  }
  return left;
}

/** Ascending by code units, no repeats. */
export function isSorted(names: readonly string[]): boolean {
  return names.every((name, i) => i === 0 || names[i - 1]! < name);
}
