// Where memoised values are found: by the name of the query, then by its argument.

import type { Entry } from './track-entry.ts';
import { Variants } from './track-variants.ts';

export class VariantsBook {
  readonly #byName = new Map<string, Map<string, Variants<Entry>>>();

  /** Values held. */
  get size(): number {
    let size = 0;
    for (const variants of this) size += variants.size;
    return size;
  }

  *[Symbol.iterator](): Iterator<Variants<Entry>> {
    for (const byArgument of this.#byName.values()) yield* byArgument.values();
  }

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

  keepOnly(live: ReadonlySet<Entry>): void {
    for (const [name, byArgument] of this.#byName) {
      for (const [arg, variants] of byArgument) {
        for (const entry of variants) if (!live.has(entry)) variants.delete(entry);
        if (variants.size === 0) byArgument.delete(arg);
      }
      if (byArgument.size === 0) this.#byName.delete(name);
    }
  }
}
