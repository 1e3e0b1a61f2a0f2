// The memoised values of one (query, argument): one for each audience, found by asking the proxy what the query asked it.
//
// A tree of questions: a query that got the same answers so far asks the same next, so a node mostly has one question, and finding the
// value for one of thousands of proxies costs as many answers as the query asked for. Only an audience that changed with the state makes
// a node ask two questions. Invariant: an entry hangs at the first node on the way of its audience that it shares with no other one, so that the
// values of a thousand proxies of which each has its own do not take a thousand branches.

import type { Facet, FacetValue } from './track-facets.ts';

/** What was asked of the proxy and answered, in the order of the first asking. Answers are interned: equal is identical. */
export type Audience = readonly (readonly [Facet, FacetValue])[];

export interface Variant {
  readonly audience: Audience;
}

interface Node<E> {
  /** Where others hang below, one whose audience ends here. */
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
    if (this.#tree !== undefined) return find(this.#tree.root, ask, 0);
    const only = this.#only;
    return only !== undefined && answersFrom(only.audience, 0, ask) ? only : undefined;
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
    const displaced = hang(root, entry);
    if (displaced !== undefined) all.delete(displaced);
    all.add(entry);
  }
}

function sameAudience(a: Audience, b: Audience): boolean {
  return a === b || (a.length === b.length && a.every(([facet, value], i) => b[i]![0] === facet && b[i]![1] === value));
}

function emptyNode<E>(): Node<E> {
  return { entry: undefined, answers: undefined };
}

function find<E extends Variant>(node: Node<E>, ask: (facet: Facet) => FacetValue, depth: number): E | undefined {
  const { entry } = node;
  if (entry !== undefined && answersFrom(entry.audience, depth, ask)) return entry;
  if (node.answers === undefined) return undefined;
  for (const [facet, children] of node.answers) {
    const child = children.get(ask(facet));
    const found = child === undefined ? undefined : find(child, ask, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function answersFrom(audience: Audience, depth: number, ask: (facet: Facet) => FacetValue): boolean {
  for (let i = depth; i < audience.length; i++) if (ask(audience[i]![0]) !== audience[i]![1]) return false;
  return true;
}

/** Gives the one with the same audience that it takes the place of. */
function hang<E extends Variant>(root: Node<E>, entry: E): E | undefined {
  const { audience } = entry;
  let node = root;
  for (let depth = 0; ; depth++) {
    const there = node.entry;
    if (there !== undefined && sameAudience(there.audience, audience)) {
      node.entry = entry;
      return there;
    }
    const step = there?.audience[depth];
    if (step !== undefined) {
      node.entry = undefined;
      childOf(node, step[0], step[1]).entry = there;
    }
    const next = audience[depth];
    if (next === undefined || (node.entry === undefined && node.answers === undefined)) {
      node.entry = entry;
      return undefined;
    }
    node = childOf(node, next[0], next[1]);
  }
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
  if (node.entry === entry) {
    node.entry = undefined;
    return;
  }
  const step = entry.audience[depth];
  if (step === undefined) return;
  const [facet, answer] = step;
  const children = node.answers?.get(facet);
  const child = children?.get(answer);
  if (children === undefined || child === undefined) return;
  remove(child, entry, depth + 1);
  if (child.entry !== undefined || (child.answers?.size ?? 0) > 0) return;
  children.delete(answer);
  if (children.size === 0) node.answers?.delete(facet);
}
