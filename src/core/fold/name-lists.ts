// Names that subscriptions share: the sidecars of a namespace ask for the same six hundred clusters, 30 KB of names
// each time. They are recorded once, and each subscription refers to them by their digest.
//
// Bounded: a list stays as long as a connected proxy's subscription is just that, and goes with the last. An unused
// list stays: its event precedes the first subscription to it, and a snapshot may fall in between.

import type { Table } from '../table.ts';

export interface NameList {
  /** Sorted, no repeats. */
  readonly names: readonly string[];
  /** Subscriptions that are this list. */
  readonly uses: number;
}

/** By digest. */
export type NameLists = Table<NameList>;

/** Listed names stay as they are. */
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
