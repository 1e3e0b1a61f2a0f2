// A set for the case of a hundred thousand sets with zero or one element each: it allocates a Set only for the second
// element. The elements are no Sets themselves.

export type Few<T> = undefined | T | Set<T>;

export function withOne<T>(few: Few<T>, item: T): Few<T> {
  if (few === undefined || few === item) return item;
  return few instanceof Set ? few.add(item) : new Set<T>().add(few).add(item);
}

export function without<T>(few: Few<T>, item: T): Few<T> {
  if (few === item) return undefined;
  if (few instanceof Set) few.delete(item);
  return few;
}

/** In the order of adding. Only the item itself may be removed meanwhile. */
export function forEachOf<T>(few: Few<T>, visit: (item: T) => void): void {
  if (few === undefined) return;
  if (few instanceof Set) for (const item of few) visit(item);
  else visit(few);
}

export function isEmpty(few: Few<unknown>): boolean {
  return few === undefined || (few instanceof Set && few.size === 0);
}
