// A budget for slicing long work without a clock. Work is counted in runs of queries and generators; when the budget of
// a slice is spent, the next run throws a sentinel that `within` catches. Everything finished before is memoised, so
// repeating the work continues where it was cut.
//
// Invariant: the budget decides only when work pauses, never what it computes.

/**
 * Thrown when the budget is spent. Not an Error: it is control flow, and capturing a stack costs more than the work it
 * interrupts.
 */
const BUDGET_SPENT = { budgetSpent: true } as const;

/** Members of a list that cost about as much as one run of a query: they are made without a call for each. */
export const MEMBERS_PER_WORK_UNIT = 100;

/** Recorded calls and generated values for one unit of the work budget. A verified call costs a quarter. */
export const CALLS_PER_WORK_UNIT = 8;

/** What is made of a list with more members no longer lies in caches: each of those takes ten times as long. */
const LIST_IN_CACHES_MAX = 1_024;

/** What the length of a list, or of a map and the lists in it, adds to the work of the run that gave it. */
export function workOfList(value: unknown): number {
  const length = Array.isArray(value) ? value.length : value instanceof Map ? membersOf(value) : 0;
  return (length + 9 * Math.max(0, length - LIST_IN_CACHES_MAX)) / MEMBERS_PER_WORK_UNIT;
}

function membersOf(map: ReadonlyMap<unknown, unknown>): number {
  let count = map.size;
  for (const one of map.values()) if (Array.isArray(one)) count += one.length;
  return count;
}

/** Finding this many finished queries costs about as much as one run of one. */
const FOUND_PER_WORK_UNIT = 32;
/** Outputs of generators, whose inputs had to be made first. */
const OUTPUTS_PER_WORK_UNIT = 16;
/** Members of inputs that are compared. */
const COMPARED_PER_WORK_UNIT = 2_048;

/** `value` is undefined if the budget did not suffice. */
export interface Within<T> {
  readonly value: T | undefined;
  readonly left: number;
  /** What finding finished values took of the budget in runs that did not end, in units of work. */
  readonly found: number;
}

/** What a slice of work gave. */
export interface Slice<T> extends Within<T> {
  /** Runs of queries and generators that ended in it, each memoised, and steps of a move to another state. */
  readonly finished: number;
}

export class WorkBudget {
  #left = Number.POSITIVE_INFINITY;
  #found = 0;

  /** Does `work` with at most `runs` runs of queries and generators. */
  within<T extends object>(runs: number, work: () => T): Within<T> {
    this.#left = runs;
    this.#found = 0;
    try {
      const value = work();
      return { value, left: this.#left, found: this.#found };
    } catch (error) {
      if (error !== BUDGET_SPENT) throw error;
      return { value: undefined, left: 0, found: this.#found };
    } finally {
      this.#left = Number.POSITIVE_INFINITY;
    }
  }

  /**
   * Call before work that takes about as long as one query. Interrupts `within` if nothing is left. Returns what was
   * found so far, for `ended`.
   */
  spend(): number {
    if (this.#left <= 0) throw BUDGET_SPENT;
    this.#left--;
    return this.#found;
  }

  /**
   * Call after a run, with what `spend` returned before it and with its work beyond that of one. What the run itself
   * found was progress: no other slice finds that again, for the run has become one value.
   */
  ended(foundBefore: number, runs: number): void {
    this.#found = foundBefore;
    this.charge(runs);
  }

  /** Call after work that turned out larger than one run. It may overdraw; the next `spend` then interrupts. */
  charge(runs: number): void {
    this.#left -= runs;
  }

  /** Call after the finished value of a query was found. */
  foundValue(): void {
    this.#chargeFound(1 / FOUND_PER_WORK_UNIT);
  }

  /** Call after the output of a generator was found, or made, by inputs with that many members. */
  foundOutput(members: number): void {
    this.#chargeFound(1 / OUTPUTS_PER_WORK_UNIT + members / COMPARED_PER_WORK_UNIT);
  }

  #chargeFound(runs: number): void {
    this.#found += runs;
    this.#left -= runs;
  }
}
