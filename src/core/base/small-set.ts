// A set for the case of a hundred thousand sets with zero or one element each: it allocates a Set only for the second
// element. The elements are no Sets themselves.
//
// Of very many elements it is several Sets. A Set that outgrows its table finds a place for each of its elements anew,
// at once, which takes a tenth of a second for a hundred thousand objects that no cache holds.

export type Few<T> = undefined | T | Set<T> | Sets<T>;

/** Elements of one Set at most. */
export const SET_MAX = 16_384;

export function withOne<T>(few: Few<T>, item: T): Few<T> {
  if (few === undefined || few === item) return item;
  if (few instanceof Sets) return few.add(item);
  if (!(few instanceof Set)) return new Set<T>().add(few).add(item);
  return few.size < SET_MAX ? few.add(item) : new Sets(few).add(item);
}

export function without<T>(few: Few<T>, item: T): Few<T> {
  if (few === item) return undefined;
  if (few instanceof Set || few instanceof Sets) few.delete(item);
  return few;
}

/** Only the item itself may be removed meanwhile. */
export function forEachOf<T>(few: Few<T>, visit: (item: T) => void): void {
  if (few === undefined) return;
  if (few instanceof Sets) few.forEach(visit);
  else if (few instanceof Set) for (const item of few) visit(item);
  else visit(few);
}

export function isEmpty(few: Few<unknown>): boolean {
  return few === undefined || (few instanceof Set && few.size === 0) || (few instanceof Sets && few.isEmpty);
}

/**
 * Invariants: no Set is larger than `SET_MAX`, and the last one takes what is added. An element that is added again
 * counts as another one if the last Set no longer has it: to look for it in all of them would cost more than the table.
 */
export class Sets<T> {
  readonly sets: Set<T>[];
  /** Where the last element was removed: those that were added together are removed together. */
  #removedAt = 0;

  constructor(first: Set<T>) {
    this.sets = [first];
  }

  get isEmpty(): boolean {
    return this.sets.every(({ size }) => size === 0);
  }

  add(item: T): this {
    const last = this.sets.at(-1)!;
    if (last.size < SET_MAX) last.add(item);
    else if (!last.has(item)) this.#withRoom().add(item);
    return this;
  }

  delete(item: T): void {
    const { length } = this.sets;
    for (let i = 0; i < length; i++) {
      const at = (this.#removedAt + i) % length;
      if (!this.sets[at]!.delete(item)) continue;
      this.#removedAt = at;
      return;
    }
  }

  forEach(visit: (item: T) => void): void {
    for (const set of this.sets) for (const item of set) visit(item);
  }

  /** The last Set from now on: one that has become half empty, so that their number follows that of the elements. */
  #withRoom(): Set<T> {
    const half = this.sets.findIndex(({ size }) => size <= SET_MAX / 2);
    const set = half < 0 ? new Set<T>() : this.sets.splice(half, 1)[0]!;
    this.sets.push(set);
    return set;
  }
}
