// Our own bugs. An assertion that fails while folding is caught by the runtime, which keeps the state before and
// records the event as rejected (law 8); it never becomes a crash loop.

export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message);
}

/** The end of a switch over a discriminated union: does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new AssertionFailed(`unreachable: ${JSON.stringify(value)}`);
}
