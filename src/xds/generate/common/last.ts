// Memoises a pure function for its last arguments. Successive resources of a mesh usually share them, so they share one
// object, which is encoded once (wire/pack.ts).

/** Arguments are compared by identity. */
export function lastOf<A extends readonly unknown[], R>(run: (...args: A) => R): (...args: A) => R {
  let last: { readonly args: A; readonly value: R } | undefined;
  return (...args) => {
    if (last !== undefined && same(last.args, args)) return last.value;
    const value = run(...args);
    last = { args, value };
    return value;
  };
}

function same(a: readonly unknown[], b: readonly unknown[]): boolean {
  for (let i = 0; i < b.length; i++) if (!Object.is(a[i], b[i])) return false;
  return a.length === b.length;
}
