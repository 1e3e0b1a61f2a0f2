// The memoised values of one (query, argument): one for each audience, found by asking the proxy what the query asked it.
//
// A tree of questions: a query that got the same answers so far asks the same next, so a node mostly has one question, and finding the
// value for one of thousands of proxies costs as many answers as the query asked for. Only an audience that changed with the state makes
// a node ask two questions. Invariant: an entry hangs at the node that its audience leads to.

import type { Facet, FacetValue } from './track-facets.ts';

/** What was asked of the proxy and answered, in the order of the first asking. Answers are interned: equal is identical. */
export type Audience = readonly (readonly [Facet, FacetValue])[];

export interface Variant {
  readonly audience: Audience;
}

interface Node<E> {
  entry: E | undefined;
  /** Made when the first question comes: most values are everybody's. */
  answers: Map<Facet, Map<FacetValue, Node<E>>> | undefined;
}

export class Variants<E extends Variant> {
  /** The only one, as long as there is one: most values are everybody's. */
  #only: E | undefined;
  #tree: { readonly root: Node<E>; readonly all: Set<E> } | undefined;
  /** The query is being run: if it is asked for now, it reads itself. */
  running = false;

  get size(): number {
    return this.#tree?.all.size ?? (this.#only === undefined ? 0 : 1);
  }

  /** In the order in which they were put. */
  [Symbol.iterator](): Iterator<E> {
    if (this.#tree !== undefined) return this.#tree.all.values();
    return (this.#only === undefined ? [] : [this.#only]).values();
  }

  /** An entry whose audience answers as `ask` does. */
  find(ask: (facet: Facet) => FacetValue): E | undefined {
    if (this.#tree !== undefined) return find(this.#tree.root, ask);
    const only = this.#only;
    if (only === undefined) return undefined;
    const { audience } = only;
    for (let i = 0; i < audience.length; i++) if (ask(audience[i]![0]) !== audience[i]![1]) return undefined;
    return only;
  }

  /** Takes the place of an entry with the same audience. Past `max` the one put longest ago goes. */
  put(entry: E, max: number): void {
    if (this.#tree === undefined) {
      const only = this.#only;
      if (only === undefined || sameAudience(only.audience, entry.audience)) {
        this.#only = entry;
        return;
      }
      this.#tree = { root: emptyNode(), all: new Set() };
      this.#only = undefined;
      this.#hang(this.#tree, only);
    }
    this.#hang(this.#tree, entry);
    const { all } = this.#tree;
    if (all.size <= max) return;
    for (const oldest of all) {
      this.delete(oldest);
      return;
    }
  }

  /** Must be called before the entry's audience changes. */
  delete(entry: E): void {
    if (this.#only === entry) this.#only = undefined;
    if (this.#tree?.all.delete(entry) === true) remove(this.#tree.root, entry, 0);
  }

  #hang({ root, all }: { readonly root: Node<E>; readonly all: Set<E> }, entry: E): void {
    let node = root;
    for (const [facet, answer] of entry.audience) node = childOf(node, facet, answer);
    if (node.entry !== undefined) all.delete(node.entry);
    node.entry = entry;
    all.add(entry);
  }
}

function sameAudience(a: Audience, b: Audience): boolean {
  return a === b || (a.length === b.length && a.every(([facet, value], i) => b[i]![0] === facet && b[i]![1] === value));
}

function emptyNode<E>(): Node<E> {
  return { entry: undefined, answers: undefined };
}

function find<E>(node: Node<E>, ask: (facet: Facet) => FacetValue): E | undefined {
  if (node.entry !== undefined) return node.entry;
  if (node.answers === undefined) return undefined;
  for (const [facet, children] of node.answers) {
    const child = children.get(ask(facet));
    const found = child === undefined ? undefined : find(child, ask);
    if (found !== undefined) return found;
  }
  return undefined;
}

function childOf<E>(node: Node<E>, facet: Facet, answer: FacetValue): Node<E> {
  node.answers ??= new Map();
  let children = node.answers.get(facet);
  if (children === undefined) {
    children = new Map();
    node.answers.set(facet, children);
  }
  let child = children.get(answer);
  if (child === undefined) {
    child = emptyNode();
    children.set(answer, child);
  }
  return child;
}

/** Prunes what nothing hangs at any more. */
function remove<E extends Variant>(node: Node<E>, entry: E, depth: number): void {
  const step = entry.audience[depth];
  if (step === undefined) {
    if (node.entry === entry) node.entry = undefined;
    return;
  }
  const [facet, answer] = step;
  const children = node.answers?.get(facet);
  const child = children?.get(answer);
  if (children === undefined || child === undefined) return;
  remove(child, entry, depth + 1);
  if (child.entry !== undefined || (child.answers?.size ?? 0) > 0) return;
  children.delete(answer);
  if (children.size === 0) node.answers?.delete(facet);
}
