// Where memoised values are found: by the name of the query, then by its argument.

import type { Entry } from './track-entry.ts';
import { Variants } from './track-variants.ts';

/** Of one name. Many queries have no argument but the empty one. */
interface Named {
  empty: Variants<Entry> | undefined;
  others: Map<string, Variants<Entry>> | undefined;
}

export class VariantsBook {
  readonly #byName = new Map<string, Named>();

  of(name: string, arg: string): Variants<Entry> {
    let named = this.#byName.get(name);
    if (named === undefined) {
      named = { empty: undefined, others: undefined };
      this.#byName.set(name, named);
    }
    if (arg === '') {
      named.empty ??= new Variants();
      return named.empty;
    }
    named.others ??= new Map();
    let variants = named.others.get(arg);
    if (variants === undefined) {
      variants = new Variants();
      named.others.set(arg, variants);
    }
    return variants;
  }

  /** Forgets places where nothing is. Yields after each. */
  *sweeping(): IterableIterator<undefined, void> {
    for (const [name, named] of this.#byName) {
      const { others } = named;
      for (const [arg, { size }] of others ?? []) {
        if (size === 0) others?.delete(arg);
        yield;
      }
      if (others?.size === 0) named.others = undefined;
      if (named.others === undefined && (named.empty?.size ?? 0) === 0) this.#byName.delete(name);
      yield;
    }
  }
}
