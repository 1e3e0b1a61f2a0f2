// Ids for lists of resource names. A tracked query takes one short text as its argument, and a proxy of a large mesh
// watches thousands of names, the same ones as its neighbours; so queries get the id of the list.
//
// Invariant: equal lists have one id while it is in use, and an id stands for one list for ever: ids are not reused.

import { assert } from '../../core/base/assert.ts';

interface Known {
  readonly id: string;
  readonly text: string;
  readonly list: readonly string[];
  usedIn: number;
}

export class ListIds {
  readonly #byList = new WeakMap<readonly string[], Known>();
  readonly #byText = new Map<string, Known>();
  readonly #byId = new Map<string, Known>();
  #count = 0;
  #generation = 1;

  /** Equal lists have one id. The list must not be changed afterwards. */
  idOf(list: readonly string[]): string {
    const known = this.#byList.get(list) ?? this.#find(list);
    known.usedIn = this.#generation;
    if (!this.#byId.has(known.id)) {
      this.#byText.set(known.text, known);
      this.#byId.set(known.id, known);
    }
    return known.id;
  }

  /** The list of an id that `idOf` returned since the last sweep but one. */
  get(id: string): readonly string[] {
    const known = this.#byId.get(id);
    assert(known !== undefined, `no list has the id ${id}`);
    return known.list;
  }

  /** Forgets lists with an id that was not used since the sweep before the last one. */
  sweep(): void {
    for (const known of this.#byId.values()) {
      if (known.usedIn >= this.#generation - 1) continue;
      this.#byId.delete(known.id);
      this.#byText.delete(known.text);
    }
    this.#generation++;
  }

  get size(): number {
    return this.#byId.size;
  }

  #find(list: readonly string[]): Known {
    const text = JSON.stringify(list);
    const known = this.#byText.get(text) ?? { id: `list ${++this.#count}`, text, list, usedIn: 0 };
    this.#byList.set(list, known);
    return known;
  }
}
