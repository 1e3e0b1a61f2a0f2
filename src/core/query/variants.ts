// The memoised values of one (query, argument), one for each facet key. A look-up asks the proxy for the facets that
// the query asked for.
//
// The values form a decision tree: each node branches on one facet. A run that has seen the same facet values asks for
// the same facet next, so a node usually branches on a single facet, and a look-up among thousands of values costs as
// many facets as the query asked for. A node branches on a second facet only if the query asked for another one in a
// later state.
//
// Invariant: an entry hangs at the first node on the path of its facet key that no other entry's path shares. So a
// thousand proxies with a value each do not take a thousand chains of nodes.

import { type FacetKey, sameFacetKey } from './facet-key.ts';
import type { Facet, FacetValue } from './facets.ts';

export interface Variant {
  readonly facetKey: FacetKey;
}

interface Node<E> {
  /** If there are branches too, an entry whose facet key ends at this node. */
  entry: E | undefined;
  /** Made with the first branch: the values of most queries depend on no facet. */
  branches: Map<Facet, Map<FacetValue, Node<E>>> | undefined;
}

export class Variants<E extends Variant> {
  /** The single entry, until a second comes and the tree is built: most queries have one value for all proxies. */
  #only: E | undefined;
  #tree: { readonly root: Node<E>; readonly all: Set<E> } | undefined;
  /** The query is running with this argument; a look-up in the meantime means that it reads itself. */
  running = false;

  get size(): number {
    return this.#tree?.all.size ?? (this.#only === undefined ? 0 : 1);
  }

  /** In insertion order. */
  [Symbol.iterator](): Iterator<E> {
    if (this.#tree !== undefined) return this.#tree.all.values();
    return (this.#only === undefined ? [] : [this.#only]).values();
  }

  /** An entry whose facet key matches the proxy, whose facets `facetValue` gives. */
  find(facetValue: (facet: Facet) => FacetValue): E | undefined {
    if (this.#tree !== undefined) return find(this.#tree.root, facetValue, 0);
    const only = this.#only;
    return only !== undefined && matchesFrom(only.facetKey, 0, facetValue) ? only : undefined;
  }

  /** Adds the entry, in place of one with an equal facet key. Past `max` the oldest is dropped. */
  put(entry: E, max: number): void {
    if (this.#tree === undefined) {
      const only = this.#only;
      if (only === undefined || sameFacetKey(only.facetKey, entry.facetKey)) {
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

  /** Removes the entry. Call it before the entry's facet key changes. */
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

function emptyNode<E>(): Node<E> {
  return { entry: undefined, branches: undefined };
}

function find<E extends Variant>(
  node: Node<E>,
  facetValue: (facet: Facet) => FacetValue,
  depth: number,
): E | undefined {
  const { entry } = node;
  if (entry !== undefined && matchesFrom(entry.facetKey, depth, facetValue)) return entry;
  if (node.branches === undefined) return undefined;
  for (const [facet, children] of node.branches) {
    const child = children.get(facetValue(facet));
    const found = child === undefined ? undefined : find(child, facetValue, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function matchesFrom(facetKey: FacetKey, depth: number, facetValue: (facet: Facet) => FacetValue): boolean {
  for (let i = depth; i < facetKey.length; i++) if (facetValue(facetKey[i]![0]) !== facetKey[i]![1]) return false;
  return true;
}

/** Returns the entry with an equal facet key that it displaced, if there was one. */
function hang<E extends Variant>(root: Node<E>, entry: E): E | undefined {
  const { facetKey } = entry;
  let node = root;
  for (let depth = 0; ; depth++) {
    const there = node.entry;
    if (there !== undefined && sameFacetKey(there.facetKey, facetKey)) {
      node.entry = entry;
      return there;
    }
    const step = there?.facetKey[depth];
    if (step !== undefined) {
      node.entry = undefined;
      childOf(node, step[0], step[1]).entry = there;
    }
    const next = facetKey[depth];
    if (next === undefined || (node.entry === undefined && node.branches === undefined)) {
      node.entry = entry;
      return undefined;
    }
    node = childOf(node, next[0], next[1]);
  }
}

function childOf<E>(node: Node<E>, facet: Facet, value: FacetValue): Node<E> {
  node.branches ??= new Map();
  let children = node.branches.get(facet);
  if (children === undefined) {
    children = new Map();
    node.branches.set(facet, children);
  }
  let child = children.get(value);
  if (child === undefined) {
    child = emptyNode();
    children.set(value, child);
  }
  return child;
}

/** Removes the entry and the nodes that are empty without it. */
function remove<E extends Variant>(node: Node<E>, entry: E, depth: number): void {
  if (node.entry === entry) {
    node.entry = undefined;
    return;
  }
  const step = entry.facetKey[depth];
  if (step === undefined) return;
  const [facet, value] = step;
  const children = node.branches?.get(facet);
  const child = children?.get(value);
  if (children === undefined || child === undefined) return;
  remove(child, entry, depth + 1);
  if (child.entry !== undefined || (child.branches?.size ?? 0) > 0) return;
  children.delete(value);
  if (children.size === 0) node.branches?.delete(facet);
}
