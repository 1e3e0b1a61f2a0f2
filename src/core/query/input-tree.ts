// Finds the output of one generator by its inputs, without making a text of the inputs as a key.
//
// Inputs are flattened into atoms: their member names, then each member, arrays as their length and elements. Inputs
// are equal if their atoms are. The tree tells known inputs apart by as few atoms as it takes: each branch looks at one
// position where the inputs below it differ, and the leaf that remains is compared in full. So a look-up costs a few
// steps and one comparison.
//
// Invariant: the tree holds at most one leaf for each list of atoms.

/** How deep arrays in inputs are compared by content; below that by identity. */
const CONTENT_DEPTH = 2;
/** A set of this many members fits the bits of a number; it is the key of the members that are undefined. */
const BITS = 52;
/** Member orders remembered for one generator. */
const SHAPES_MAX = 16;
/** Marks the beginning of an array among the atoms; it occurs in no input. */
const ARRAY = Symbol('array');

export type Atoms = readonly unknown[];

export interface Leaf {
  readonly atoms: Atoms;
  usedInEpoch: number;
}

interface Branch<L extends Leaf> {
  readonly asks: number;
  readonly answers: Map<unknown, Node<L>>;
}
type Node<L extends Leaf> = L | Branch<L>;

/** Inputs with these members in this order. */
interface Shape {
  readonly names: readonly string[];
  readonly sorted: readonly string[];
  readonly whole: object;
  /** Name sets without the members that are undefined, by the bits of those. */
  readonly reduced: Map<number | string, object>;
}

export class InputTree<L extends Leaf> {
  #root: Node<L> | undefined;
  /** Newest first: most generators get their inputs from one place in the code, so the first shape matches. */
  readonly #shapes: Shape[] = [];
  /** One object for each set of names in any order; it is the first atom. */
  readonly #nameSets = new Map<string, object>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  atomsOf(inputs: object): Atoms {
    if (Array.isArray(inputs)) return listAtoms(inputs);
    const record = inputs as Readonly<Record<string, unknown>>;
    const shape = this.#shapeOf(record);
    const { sorted } = shape;
    gathered = 0;
    put(shape.whole, 0);
    let absent = 0;
    for (let i = 0; i < sorted.length; i++) {
      const member = record[sorted[i]!];
      if (member === undefined) absent += 2 ** i;
      else put(member, CONTENT_DEPTH);
    }
    if (absent > 0) scratch[0] = this.#without(shape, record, absent);
    return taken();
  }

  find(atoms: Atoms): L | undefined {
    let node = this.#root;
    while (node !== undefined && 'answers' in node) node = node.answers.get(atoms[node.asks]);
    return node === undefined || differsAt(node.atoms, atoms) >= 0 ? undefined : node;
  }

  /** Adds a leaf whose atoms are not in the tree. */
  add(leaf: L): void {
    this.#size++;
    let parent: Branch<L> | undefined;
    let node = this.#root;
    while (node !== undefined && 'answers' in node) {
      parent = node;
      node = node.answers.get(leaf.atoms[node.asks]);
    }
    const place = node === undefined ? leaf : split(node, leaf);
    if (parent === undefined) this.#root = place;
    else parent.answers.set(leaf.atoms[parent.asks], place);
  }

  /** Drops leaves last used before the epoch `oldest`. Yields after each; leaves may be found and added in between. */
  *sweeping(oldest: number): IterableIterator<undefined, void> {
    const root = this.#root;
    if (root === undefined || !('answers' in root)) {
      if (root !== undefined && root.usedInEpoch < oldest) {
        this.#root = undefined;
        this.#size--;
      }
      return;
    }
    yield* this.#sweepingBelow(root, oldest);
    if (root.answers.size === 0) this.#root = undefined;
  }

  *#sweepingBelow({ answers }: Branch<L>, oldest: number): IterableIterator<undefined, void> {
    for (const [answer, child] of answers) {
      if ('answers' in child) {
        yield* this.#sweepingBelow(child, oldest);
        if (child.answers.size === 0) answers.delete(answer);
      } else if (child.usedInEpoch < oldest) {
        answers.delete(answer);
        this.#size--;
      }
      yield;
    }
  }

  #shapeOf(record: Readonly<Record<string, unknown>>): Shape {
    const shapes = this.#shapes;
    for (let i = 0; i < shapes.length; i++) if (hasNames(record, shapes[i]!.names)) return shapes[i]!;
    const names = Object.keys(record);
    const sorted = names.slice().sort();
    const shape = { names, sorted, whole: this.#nameSet(sorted), reduced: new Map() };
    this.#shapes.unshift(shape);
    if (this.#shapes.length > SHAPES_MAX) this.#shapes.pop();
    return shape;
  }

  /** The name set without the undefined members: an undefined member equals an absent one. */
  #without({ sorted, reduced }: Shape, record: Readonly<Record<string, unknown>>, absent: number): object {
    const present = (): readonly string[] => sorted.filter(name => record[name] !== undefined);
    const key = sorted.length > BITS ? present().join() : absent;
    let names = reduced.get(key);
    if (names === undefined) {
      names = this.#nameSet(present());
      reduced.set(key, names);
    }
    return names;
  }

  #nameSet(sorted: readonly string[]): object {
    const key = sorted.join();
    let known = this.#nameSets.get(key);
    if (known === undefined) {
      known = sorted;
      this.#nameSets.set(key, known);
    }
    return known;
  }
}

function listAtoms(list: readonly unknown[]): Atoms {
  gathered = 0;
  put(list, CONTENT_DEPTH + 1);
  return taken();
}

/**
 * Atoms are gathered here and copied at their final length: lists that grow keep spare room, and there are hundreds of
 * thousands of them.
 */
const scratch: unknown[] = [];
let gathered = 0;

function put(value: unknown, depth: number): void {
  if (depth === 0 || !Array.isArray(value)) {
    scratch[gathered++] = value;
    return;
  }
  scratch[gathered++] = ARRAY;
  scratch[gathered++] = value.length;
  for (let i = 0; i < value.length; i++) put(value[i], depth - 1);
}

function taken(): Atoms {
  const atoms = scratch.slice(0, gathered);
  scratch.fill(undefined, 0, gathered);
  return atoms;
}

/** A branch on the first atom in which two leaves differ. */
function split<L extends Leaf>(there: L, added: L): Branch<L> {
  const asks = differsAt(there.atoms, added.atoms);
  const answers = new Map<unknown, Node<L>>();
  answers.set(there.atoms[asks], there);
  answers.set(added.atoms[asks], added);
  return { asks, answers };
}

/** The first position where the atoms differ, or -1. NaN equals NaN. */
function differsAt(a: Atoms, b: Atoms): number {
  const length = Math.max(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a[i];
    const y = b[i];
    if (x !== y && !(Number.isNaN(x) && Number.isNaN(y))) return i;
  }
  return -1;
}

/** Relies on inputs being plain records, which inherit no enumerable names; `for in` allocates nothing. */
function hasNames(record: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  let i = 0;
  for (const name in record) if (name !== names[i++]) return false;
  return i === names.length;
}
