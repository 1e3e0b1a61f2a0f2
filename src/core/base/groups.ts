// Lists of what has something in common, by what it is. Both in the order of the items.

export function groupsOf<T, K = string>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  return groupsOfEach(items, item => [keyOf(item)]);
}

/** An item is in the group of each of its keys. */
export function groupsOfEach<T, K = string>(items: Iterable<T>, keysOf: (item: T) => Iterable<K>): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    for (const key of keysOf(item)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
  }
  return groups;
}

/** The items in lists of `size`, in order; the last one may be shorter. */
export function blocksOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

/**
 * The lists as one, at once: where `flatMap` and `flat` take hundreds of thousands of items one by one, which lasts as
 * long as making them.
 */
export function joined<T>(lists: readonly (readonly T[])[]): T[] {
  if (lists.length <= ARGUMENTS_MAX) return ([] as T[]).concat(...lists);
  return joined(blocksOf(lists, ARGUMENTS_MAX).map(block => joined(block)));
}
/** Arguments are passed on the stack. */
const ARGUMENTS_MAX = 4_096;
