// The newest entry of each lineage (Selection.lineage in reader.ts), one for each facet key. When a long list changes,
// its selection is bound to a new item that has no entry yet; the predecessor then lends its call lists, so that only
// the elements that differ are evaluated.
//
// A hint only: every call taken from a predecessor is checked (run.ts), so a wrong or missing one costs time and
// changes no value. It keeps entries alive, so `sweep` drops what tracker and sweep have given up, and `put` bounds a
// lineage.

import type { Entry } from './entry.ts';
import type { Facet, FacetValue } from './facets.ts';

/** Facet keys remembered for one lineage; past that the oldest is dropped. They usually differ by namespace. */
export const PREDECESSORS_MAX = 256;

export class Predecessors {
  readonly #byLineage = new Map<string, Entry[]>();

  /** The newest entry whose facet key matches the proxy. */
  find(lineage: string, facetValue: (facet: Facet) => FacetValue): Entry | undefined {
    return this.#byLineage.get(lineage)?.find(entry => !entry.unlinked && matchesProxy(entry, facetValue));
  }

  /** Adds `now` in place of `before`, which is what `find` returned. */
  put(lineage: string, before: Entry | undefined, now: Entry): void {
    const others = (this.#byLineage.get(lineage) ?? []).filter(entry => entry !== before && !entry.unlinked);
    this.#byLineage.set(lineage, [now, ...others.slice(0, PREDECESSORS_MAX - 1)]);
  }

  /** Drops entries last used before the epoch `oldest`. */
  sweep(oldest: number): void {
    for (const [lineage, entries] of this.#byLineage) {
      const kept = entries.filter(entry => !entry.unlinked && entry.usedInEpoch >= oldest);
      if (kept.length === 0) this.#byLineage.delete(lineage);
      else this.#byLineage.set(lineage, kept);
    }
  }
}

/** True if the proxy whose facets `facetValue` gives may use the entry. */
export function matchesProxy(entry: Entry, facetValue: (facet: Facet) => FacetValue): boolean {
  return entry.facetKey.every(([facet, value]) => facetValue(facet) === value);
}
