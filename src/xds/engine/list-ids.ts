// Short names for lists of resource names: a proxy of a large mesh watches thousands of clusters, and its neighbours the same. The name of a list
// is what a query is asked with, so it must stand for one content only: names are never given twice.

import { assert } from '../../core/base/assert.ts';

interface Known {
  readonly name: string;
  readonly text: string;
  readonly list: readonly string[];
  usedIn: number;
}

export class ListIds {
  readonly #byList = new WeakMap<readonly string[], Known>();
  readonly #byText = new Map<string, Known>();
  readonly #byName = new Map<string, Known>();
  #count = 0;
  #generation = 1;

  /** Equal lists have one name. The list must not be changed afterwards. */
  idOf(list: readonly string[]): string {
    const known = this.#byList.get(list) ?? this.#find(list);
    known.usedIn = this.#generation;
    if (!this.#byName.has(known.name)) {
      this.#byText.set(known.text, known);
      this.#byName.set(known.name, known);
    }
    return known.name;
  }

  /** The list of a name that `nameOf` gave since the sweep before the last. */
  get(name: string): readonly string[] {
    const known = this.#byName.get(name);
    assert(known !== undefined, `no list is called ${name}`);
    return known.list;
  }

  /** Forgets what was not asked for since the sweep before the last. */
  sweep(): void {
    for (const known of this.#byName.values()) {
      if (known.usedIn >= this.#generation - 1) continue;
      this.#byName.delete(known.name);
      this.#byText.delete(known.text);
    }
    this.#generation++;
  }

  get size(): number {
    return this.#byName.size;
  }

  #find(list: readonly string[]): Known {
    const text = JSON.stringify(list);
    const known = this.#byText.get(text) ?? { name: `list ${++this.#count}`, text, list, usedIn: 0 };
    this.#byList.set(list, known);
    return known;
  }
}
