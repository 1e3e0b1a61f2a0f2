// Work of which one input may have a lot, in steps: between two of them the caller may let the event loop turn.

export type Steps<T> = Generator<undefined, T, undefined>;

/** Members of an object that a step goes through, each in some half a microsecond. */
export const MEMBERS_PER_STEP = 8_192;

/** All steps, one after the other. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
