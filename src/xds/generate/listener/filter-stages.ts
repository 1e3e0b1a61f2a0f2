// Filters in the order of their stages. The order is written down whole, so that a feature has its place before it exists.

/** What each stage of `order` has, one after the other; a stage that nothing fills is empty. */
export function inOrder<S extends string, F>(
  order: readonly S[],
  stages: Readonly<Partial<Record<S, readonly F[]>>>,
): readonly F[] {
  const filters: F[] = [];
  for (const stage of order) {
    const own = stages[stage];
    if (own !== undefined) filters.push(...own);
  }
  return filters;
}
