// Generators and their memo: equal inputs give the identical output, for whichever proxy they were selected.
//
// Inputs are plain records whose elements are immutable references, scalars, or arrays of such. They are compared element by element:
// scalars and arrays by content, every other object by identity: it was born in the state, in a query or in another memo.

export interface Generator<I extends object, O> {
  readonly name: string;
  readonly run: (inputs: I) => O;
}

export interface MadeCell {
  readonly value: unknown;
  usedIn: number;
}

/** How deep arrays in inputs, and arrays and plain records in values, are compared by content; below that by identity. */
const CONTENT_DEPTH = 3;

export class InputMemo {
  readonly #cells = new Map<string, MadeCell>();
  readonly #ids = new WeakMap<object, number>();
  /** By number of members, the order that was seen last, and sorted. */
  readonly #orders = new Map<number, { readonly names: readonly string[]; readonly sorted: readonly string[] }>();
  #nextId = 1;

  make(
    generator: Generator<object, unknown>,
    inputs: object,
    generation: number,
    beforeRun: () => void = () => undefined,
  ): { readonly cell: MadeCell; readonly fresh: boolean } {
    const key = `${generator.name}${this.keyOf(inputs)}`;
    const known = this.#cells.get(key);
    if (known !== undefined) {
      known.usedIn = generation;
      return { cell: known, fresh: false };
    }
    beforeRun();
    const cell: MadeCell = { value: generator.run(inputs), usedIn: generation };
    this.#cells.set(key, cell);
    return { cell, fresh: true };
  }

  /** Equal for equal inputs, and for no others. */
  keyOf(inputs: object): string {
    return this.#keyOf(inputs, CONTENT_DEPTH);
  }

  /** Forgets cells that were not used in this generation or the one before. */
  sweep(generation: number): void {
    for (const [key, cell] of this.#cells) if (cell.usedIn < generation - 1) this.#cells.delete(key);
  }

  get size(): number {
    return this.#cells.size;
  }

  #keyOf(value: unknown, depth: number): string {
    if (typeof value === 'function') return `#${this.#idOf(value)};`;
    if (typeof value !== 'object' || value === null) return `${typeof value}:${String(value).length}:${String(value)};`;
    if (depth > 0 && Array.isArray(value)) {
      let text = '[';
      for (const item of value) text += this.#keyOf(item, depth - 1);
      return `${text}]`;
    }
    if (depth === CONTENT_DEPTH) {
      const record = value as Readonly<Record<string, unknown>>;
      let text = '{';
      for (const name of this.#sortedNames(value)) {
        const member = record[name];
        if (member !== undefined) text += `${name}=${this.#keyOf(member, depth - 1)}`;
      }
      return `${text}}`;
    }
    return `#${this.#idOf(value)};`;
  }

  /** Inputs are mostly written down in one order in one place: the order of one record is that of the next. */
  #sortedNames(value: object): readonly string[] {
    const names = Object.keys(value);
    const known = this.#orders.get(names.length);
    if (known?.names.every((name, i) => name === names[i]) === true) return known.sorted;
    const sorted = names.slice().sort();
    this.#orders.set(names.length, { names, sorted });
    return sorted;
  }

  #idOf(value: object): number {
    const known = this.#ids.get(value);
    if (known !== undefined) return known;
    this.#ids.set(value, this.#nextId);
    return this.#nextId++;
  }
}

/** Equal for the purposes of early cut-off: identical, or arrays / plain records whose elements are. */
export function sameValue(a: unknown, b: unknown): boolean {
  return sameTo(a, b, CONTENT_DEPTH);
}

/**
 * The later of two values, with what is the same in both taken from the earlier one: all of it, or elements of an array. So whoever is asked about
 * the elements is asked about the identical ones.
 */
export function keepSame(before: unknown, now: unknown): unknown {
  if (sameValue(before, now)) return before;
  if (!Array.isArray(before) || !Array.isArray(now)) return now;
  const kept: unknown[] = now.slice();
  const shorter = Math.min(before.length, now.length);
  const take = (from: number, to: number): boolean => {
    const same = Object.is(before[from], kept[to]) || sameTo(before[from], kept[to], CONTENT_DEPTH - 1);
    if (same) kept[to] = before[from];
    return same;
  };
  let start = 0;
  while (start < shorter && take(start, start)) start++;
  let end = 0;
  while (end < shorter - start && take(before.length - 1 - end, kept.length - 1 - end)) end++;
  // Between the two: of lists of one length what stands at the same place.
  if (before.length === now.length) for (let i = start; i < now.length - end; i++) take(i, i);
  return kept;
}

function sameTo(a: unknown, b: unknown, depth: number): boolean {
  if (Object.is(a, b)) return true;
  if (depth === 0 || typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => sameTo(item, b[i], depth - 1));
  }
  if (Array.isArray(b) || !isPlain(a) || !isPlain(b)) return false;
  const left = Object.entries(a);
  if (left.length !== Object.keys(b).length) return false;
  const right = b as Readonly<Record<string, unknown>>;
  return left.every(([name, member]) => Object.hasOwn(right, name) && sameTo(member, right[name], depth - 1));
}

/** Of a Map, a Set or a class the members do not tell the content. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
