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

/** A single charge from here on is for work that lasts longer than a look at many finished values. */
const LARGE_CHARGE = 32;

/** Members of a list that cost about as much as one run of a query: they are made without a call for each. */
export const MEMBERS_PER_WORK_UNIT = 100;

/** What the length of a value adds to the work of the run that gave it. */
export function workOfList(value: unknown): number {
  return Array.isArray(value) ? value.length / MEMBERS_PER_WORK_UNIT : 0;
}

/** `value` is undefined if the budget did not suffice. */
export interface Within<T> {
  readonly value: T | undefined;
  readonly left: number;
}

export class WorkBudget {
  #left = Number.POSITIVE_INFINITY;
  #scale = 1;

  /**
   * Does `work` with at most `runs` runs of queries and generators. `value` is undefined if the budget did not suffice.
   * `scale`: how much larger this slice is than the first of the same work. Slices grow so that walking through
   * finished work again stays cheap; large work counts that much more (`chargeWork`), since it is no walk.
   */
  within<T extends object>(runs: number, work: () => T, scale = 1): Within<T> {
    this.#left = runs;
    this.#scale = scale;
    try {
      const value = work();
      return { value, left: this.#left };
    } catch (error) {
      if (error !== BUDGET_SPENT) throw error;
      return { value: undefined, left: 0 };
    } finally {
      this.#left = Number.POSITIVE_INFINITY;
    }
  }

  /** Call before work that takes about as long as one query. Interrupts `within` if nothing is left. */
  spend(): void {
    if (this.#left <= 0) throw BUDGET_SPENT;
    this.#left--;
  }

  /** Call after work that turned out larger than one run. It may overdraw; the next `spend` then interrupts. */
  charge(runs: number): void {
    this.#left -= runs;
  }

  /** As `charge`, after work that is not repeated and whose share of a slice does not grow with the slice. */
  chargeWork(runs: number): void {
    this.#left -= runs < LARGE_CHARGE ? runs : runs * this.#scale;
  }
}
