// Empty lists are left out of messages: they encode to the same bytes, and an absent field is cheaper to build and to
// compare.

export function orNone<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
