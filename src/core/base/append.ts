// Appends a list of any length. `push(...items)` passes each item on the stack, which holds about a hundred thousand.

export function append<T>(to: T[], items: Iterable<T>): void {
  for (const item of items) to.push(item);
}
