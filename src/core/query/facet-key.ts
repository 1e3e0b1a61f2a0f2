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
  let all: FacetKey = NO_FACETS;
  let own: FacetKey[number][] | undefined;
  let last: FacetKey | undefined;
  for (let i = 0; i < sources.length; i++) {
    const source = sources[i]!;
    if (!('facetKey' in source)) {
      if (hasFacet(all, source)) continue;
      own ??= [...all];
      own.push(source);
      all = own;
      continue;
    }
    const { facetKey } = source;
    if (facetKey === last || facetKey === all || facetKey.length === 0) continue;
    last = facetKey;
    if (all.length === 0) {
      all = facetKey;
      continue;
    }
    for (let j = 0; j < facetKey.length; j++) {
      const pair = facetKey[j]!;
      if (hasFacet(all, pair)) continue;
      own ??= [...all];
      own.push(pair);
      all = own;
    }
  }
  // Cut to its length: a list that grew keeps room for more.
  return all === own ? own.slice() : all;
}

function hasFacet(facetKey: FacetKey, pair: FacetKey[number]): boolean {
  const { id } = pair[0];
  for (let i = 0; i < facetKey.length; i++) if (facetKey[i]![0].id === id) return true;
  return false;
}
