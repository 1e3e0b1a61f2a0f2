// Filters in the order of their stages. A table names every stage of a chain once, in order; a feature adds filters by
// filling its row, and nothing else decides where a filter stands.

/** One stage of a chain: its name, and the filters that it has for the inputs of a chain. */
export interface FilterStage<I, F> {
  readonly stage: string;
  /** Absent: a place kept for a feature that sends no filter yet. */
  readonly filters?: (inputs: I) => readonly F[];
}

/** The filters of all stages, in the order of the table. */
export function filtersOf<I, F>(stages: readonly FilterStage<I, F>[], inputs: I): readonly F[] {
  const all: F[] = [];
  for (const { filters } of stages) if (filters !== undefined) all.push(...filters(inputs));
  return all;
}
