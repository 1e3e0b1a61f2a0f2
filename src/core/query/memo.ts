// Generators and their memo: equal inputs give the identical output, for whichever proxy they were selected.
//
// Inputs are plain records whose elements are immutable references, scalars, or arrays of such. They are compared element by element:
// scalars and arrays by content, every other object by identity: it was born in the state, in a query or in another memo.

import { InputTree, type Leaf } from './input-tree.ts';

export interface Generator<I extends object, O> {
  readonly name: string;
  readonly run: (inputs: I) => O;
}

/** Of equal records always the same one, so that what follows from it is not asked for again when another made an equal one. */
export function oneOfEqual<T extends object>(name: string): Generator<T, T> {
  return { name, run: one => one };
}

export interface MadeCell extends Leaf {
  readonly value: unknown;
  /** The run that used it last: see Read. */
  lastRun: number;
}

/** How deep arrays and plain records in values are compared by content; below that by identity. */
const CONTENT_DEPTH = 3;

export class InputMemo {
  /** By the generator's name, of which there are as many as the program has: what was learnt about how inputs look stays. */
  readonly #trees = new Map<string, InputTree<MadeCell>>();

  /** `beforeRun` is called before the generator is. */
  make(
    { name, run }: Generator<object, unknown>,
    inputs: object,
    generation: number,
    beforeRun: () => void = () => undefined,
  ): MadeCell {
    const tree = this.#treeOf(name);
    const atoms = tree.atomsOf(inputs);
    let cell = tree.find(atoms);
    if (cell === undefined) {
      beforeRun();
      cell = { atoms, value: run(inputs), usedIn: generation, lastRun: 0 };
      tree.add(cell);
    }
    cell.usedIn = generation;
    return cell;
  }

  /** Forgets cells that were not used in this generation or the one before. Yields after each. */
  *sweeping(generation: number): IterableIterator<undefined, void> {
    for (const tree of this.#trees.values()) yield* tree.sweeping(generation - 1);
  }

  get size(): number {
    let size = 0;
    for (const tree of this.#trees.values()) size += tree.size;
    return size;
  }

  #treeOf(name: string): InputTree<MadeCell> {
    let tree = this.#trees.get(name);
    if (tree === undefined) {
      tree = new InputTree();
      this.#trees.set(name, tree);
    }
    return tree;
  }
}

/** Equal for the purposes of early cut-off: identical, or arrays / plain records whose elements are. */
function sameValue(a: unknown, b: unknown): boolean {
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
