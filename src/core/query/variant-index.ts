// Finds the memoised values of a query: by its name, then by its argument. `Variants` then tells the values for
// different proxies apart.
//
// The empty argument has a field of its own: many queries take no other, and need no map for it.

import type { Entry } from './entry.ts';
import { Variants } from './variants.ts';

/** The values of one query. */
interface ByArgument {
  empty: Variants<Entry> | undefined;
  others: Map<string, Variants<Entry>> | undefined;
}

export class VariantIndex {
  readonly #byName = new Map<string, ByArgument>();

  of(name: string, arg: string): Variants<Entry> {
    let byArgument = this.#byName.get(name);
    if (byArgument === undefined) {
      byArgument = { empty: undefined, others: undefined };
      this.#byName.set(name, byArgument);
    }
    if (arg === '') {
      byArgument.empty ??= new Variants();
      return byArgument.empty;
    }
    byArgument.others ??= new Map();
    let variants = byArgument.others.get(arg);
    if (variants === undefined) {
      variants = new Variants();
      byArgument.others.set(arg, variants);
    }
    return variants;
  }

  /** Removes arguments and names that have no values left. Yields after each. */
  *sweeping(): IterableIterator<undefined, void> {
    for (const [name, byArgument] of this.#byName) {
      const { others } = byArgument;
      for (const [arg, { size }] of others ?? []) {
        if (size === 0) others?.delete(arg);
        yield;
      }
      if (others?.size === 0) byArgument.others = undefined;
      if (byArgument.others === undefined && (byArgument.empty?.size ?? 0) === 0) this.#byName.delete(name);
      yield;
    }
  }
}
