// The facet key of a memoised value: the facets of the proxy that its run read, itself or through calls, and their
// values. A proxy may use the value if and only if it has the same value for each of these facets.
//
// Facet values are interned, so keys are compared by identity, pair by pair. Keys are shared where possible (a caller
// that adds nothing takes the key of its callee), because identical keys let `Tracker` skip even that.

import type { Facet, FacetValue } from './facets.ts';

/** In the order of the run's first reads. */
export type FacetKey = readonly (readonly [Facet, FacetValue])[];

/**
 * A source of pairs in the key of a run: a facet that it read itself, or a call, which adds the key of the called
 * entry.
 */
export type FacetSource = FacetKey[number] | { readonly facetKey: FacetKey };

const NO_FACETS: FacetKey = [];

/** Pairs among which one is looked for one by one: usual keys are shorter, and cost no index. */
const SCANNED_MAX = 32;

/** The key that these sources give; `before` itself if it has equal pairs, so that callers find theirs unchanged. */
export function facetKeyOf(sources: readonly FacetSource[], before: FacetKey | undefined): FacetKey {
  const now = union(sources);
  const same =
    before?.length === now.length &&
    now.every(([facet, value], i) => before[i]![0] === facet && Object.is(before[i]![1], value));
  return same ? before : now;
}

export function sameFacetKey(a: FacetKey, b: FacetKey): boolean {
  return a === b || (a.length === b.length && a.every(([facet, value], i) => b[i]![0] === facet && b[i]![1] === value));
}

/** Returns the key of a callee itself, uncopied, if no other source adds to it. */
function union(sources: readonly FacetSource[]): FacetKey {
  const all = new FacetUnion();
  let last: FacetKey | undefined;
  for (let i = 0; i < sources.length; i++) {
    const source = sources[i]!;
    if (!('facetKey' in source)) {
      all.add(source);
      continue;
    }
    const { facetKey } = source;
    if (facetKey === last || facetKey.length === 0) continue;
    last = facetKey;
    all.addAll(facetKey);
  }
  return all.key();
}

class FacetUnion {
  #all: FacetKey = NO_FACETS;
  /** The list that `#all` is, if it is a copy. */
  #own: FacetKey[number][] | undefined;
  /** Made for a key that is longer than SCANNED_MAX: a proxy may be looked at by thousands of selectors. */
  #ids: Set<string> | undefined;

  addAll(facetKey: FacetKey): void {
    if (facetKey === this.#all) return;
    if (this.#all.length === 0) this.#all = facetKey;
    else for (let i = 0; i < facetKey.length; i++) this.add(facetKey[i]!);
  }

  add(pair: FacetKey[number]): void {
    if (this.#has(pair)) return;
    if (this.#own === undefined) {
      this.#own = [...this.#all];
      this.#all = this.#own;
    }
    this.#own.push(pair);
    this.#ids?.add(pair[0].id);
  }

  /** Cut to its length: a list that grew keeps room for more. */
  key(): FacetKey {
    return this.#own?.slice() ?? this.#all;
  }

  #has(pair: FacetKey[number]): boolean {
    const { id } = pair[0];
    if (this.#all.length > SCANNED_MAX) {
      this.#ids ??= new Set(this.#all.map(([facet]) => facet.id));
      return this.#ids.has(id);
    }
    for (let i = 0; i < this.#all.length; i++) if (this.#all[i]![0].id === id) return true;
    return false;
  }
}
