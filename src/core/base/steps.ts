// Work of which one input may have a lot, in steps: between two of them the caller may let the event loop turn.

export type Steps<T> = Generator<undefined, T, undefined>;

/** All steps, one after the other. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
