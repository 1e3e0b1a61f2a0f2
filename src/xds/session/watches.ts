// The watches of one client by type, in push order: an immutable map. Two parallel arrays instead of a Map, because
// there are a handful of types and every step of every stream makes a new value; the array of type URLs is shared by
// all values with the same types.

import { byPushOrder } from './types.ts';

export class Watches<W> {
  /** In push order. The identical list while no type is added or removed. */
  readonly typeUrls: readonly string[];
  readonly #all: readonly W[];

  constructor(typeUrls: readonly string[] = [], all: readonly W[] = []) {
    this.typeUrls = typeUrls;
    this.#all = all;
  }

  get size(): number {
    return this.typeUrls.length;
  }

  get(typeUrl: string): W | undefined {
    const at = this.typeUrls.indexOf(typeUrl);
    return at < 0 ? undefined : this.#all[at];
  }

  has(typeUrl: string): boolean {
    return this.typeUrls.includes(typeUrl);
  }

  /** In push order. */
  *[Symbol.iterator](): IterableIterator<readonly [string, W]> {
    for (let i = 0; i < this.typeUrls.length; i++) yield [this.typeUrls[i]!, this.#all[i]!];
  }

  with(typeUrl: string, watch: W): Watches<W> {
    const at = this.typeUrls.indexOf(typeUrl);
    if (at >= 0) {
      const all = this.#all.slice();
      all[at] = watch;
      return new Watches(this.typeUrls, all);
    }
    const typeUrls = [...this.typeUrls, typeUrl].sort(byPushOrder);
    const place = typeUrls.indexOf(typeUrl);
    return new Watches(typeUrls, [...this.#all.slice(0, place), watch, ...this.#all.slice(place)]);
  }

  without(typeUrl: string): Watches<W> {
    const at = this.typeUrls.indexOf(typeUrl);
    if (at < 0) return this;
    const others = (_: unknown, i: number): boolean => i !== at;
    return new Watches(this.typeUrls.filter(others), this.#all.filter(others));
  }
}
