// Generators and their memo: equal inputs give the identical output, for whichever proxy the inputs were selected.
//
// Inputs are plain records of immutable references, scalars, or arrays of these. Scalars and arrays are compared by
// content, all other objects by identity: they come from the state, a query or another memo, each of which keeps
// identity while content is equal.

import { InputTree, type Leaf } from './input-tree.ts';

export interface Generator<I extends object, O> {
  readonly name: string;
  readonly run: (inputs: I) => O;
  /** Units of the work budget that a run took beyond its own. */
  readonly work?: (made: O, inputs: I) => number;
}

/**
 * A generator that returns one object for all equal records, so that values memoised by identity are shared by the
 * callers that make them.
 */
export function interning<T extends object>(name: string): Generator<T, T> {
  return { name, run: one => one };
}

export interface MemoCell extends Leaf {
  readonly value: unknown;
  /** Id of the run that used it last, so that a run records it once. */
  lastRun: number;
}

/** How deep arrays and plain records in values are compared by content; below that by identity. */
const CONTENT_DEPTH = 3;

export class InputMemo {
  /**
   * By generator name. Bounded by the generators in the program, so trees stay when their cells are swept, with the
   * shapes they have learnt.
   */
  readonly #trees = new Map<string, InputTree<MemoCell>>();

  /** `beforeRun` is called before the generator is, `afterRun` with its work. */
  make(
    { name, run, work }: Generator<object, unknown>,
    inputs: object,
    epoch: number,
    beforeRun: () => void = () => undefined,
    afterRun: (work: number) => void = () => undefined,
  ): MemoCell {
    const tree = this.#treeOf(name);
    const atoms = tree.atomsOf(inputs);
    let cell = tree.find(atoms);
    if (cell === undefined) {
      beforeRun();
      cell = { atoms, value: run(inputs), usedInEpoch: epoch, lastRun: 0 };
      tree.add(cell);
      if (work !== undefined) afterRun(work(cell.value, inputs));
    }
    cell.usedInEpoch = epoch;
    return cell;
  }

  /** Drops cells used neither in this epoch nor in the previous one. Yields after each. */
  *sweeping(epoch: number): IterableIterator<undefined, void> {
    for (const tree of this.#trees.values()) yield* tree.sweeping(epoch - 1);
  }

  get size(): number {
    let size = 0;
    for (const tree of this.#trees.values()) size += tree.size;
    return size;
  }

  #treeOf(name: string): InputTree<MemoCell> {
    let tree = this.#trees.get(name);
    if (tree === undefined) {
      tree = new InputTree();
      this.#trees.set(name, tree);
    }
    return tree;
  }
}

/** Equality for early cut-off: identical, or arrays or plain records whose members are equal, to a limited depth. */
function sameValue(a: unknown, b: unknown): boolean {
  return sameToDepth(a, b, CONTENT_DEPTH);
}

/**
 * The new value with the equal parts of the old one in place of its own: the whole value if equal, otherwise the equal
 * elements of an array, at its beginning and end (and in between, if the length is the same). Callers of the unchanged
 * elements then see identical objects.
 */
export function keepSame(before: unknown, now: unknown): unknown {
  if (sameValue(before, now)) return before;
  if (!Array.isArray(before) || !Array.isArray(now)) return now;
  const kept: unknown[] = now.slice();
  const shorter = Math.min(before.length, now.length);
  const take = (from: number, to: number): boolean => {
    const same = Object.is(before[from], kept[to]) || sameToDepth(before[from], kept[to], CONTENT_DEPTH - 1);
    if (same) kept[to] = before[from];
    return same;
  };
  let start = 0;
  while (start < shorter && take(start, start)) start++;
  let end = 0;
  while (end < shorter - start && take(before.length - 1 - end, kept.length - 1 - end)) end++;
  // In the middle, only lists of equal length can be matched, position by position.
  if (before.length === now.length) for (let i = start; i < now.length - end; i++) take(i, i);
  return kept;
}

function sameToDepth(a: unknown, b: unknown, depth: number): boolean {
  if (Object.is(a, b)) return true;
  if (depth === 0 || typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => sameToDepth(item, b[i], depth - 1));
  }
  if (Array.isArray(b) || !isPlain(a) || !isPlain(b)) return false;
  const left = Object.entries(a);
  if (left.length !== Object.keys(b).length) return false;
  const right = b as Readonly<Record<string, unknown>>;
  return left.every(([name, member]) => Object.hasOwn(right, name) && sameToDepth(member, right[name], depth - 1));
}

/** The enumerable members of a Map, a Set or a class instance do not show its content. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
