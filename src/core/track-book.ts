// Where memoised values are found: by the name of the query, then by its argument.

import type { Entry } from './track-entry.ts';
import { Variants } from './track-variants.ts';

export class VariantsBook {
  readonly #byName = new Map<string, Map<string, Variants<Entry>>>();

  of(name: string, arg: string): Variants<Entry> {
    let byArgument = this.#byName.get(name);
    if (byArgument === undefined) {
      byArgument = new Map();
      this.#byName.set(name, byArgument);
    }
    let variants = byArgument.get(arg);
    if (variants === undefined) {
      variants = new Variants();
      byArgument.set(arg, variants);
    }
    return variants;
  }

  /** Forgets places where nothing is. Yields after each. */
  *sweeping(): IterableIterator<undefined, void> {
    for (const [name, byArgument] of this.#byName) {
      for (const [arg, { size }] of byArgument) {
        if (size === 0) byArgument.delete(arg);
        yield;
      }
      if (byArgument.size === 0) this.#byName.delete(name);
    }
  }
}
