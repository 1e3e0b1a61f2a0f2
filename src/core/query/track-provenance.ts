// What a value rests on, down to the objects: whatever was read on the way to it, by itself or by what it called.

import type { Entry } from './track-entry.ts';
import type { DerivedFacet } from './track-facets.ts';

/** Object keys as `Kind/key`, sorted. */
export interface Provenance {
  readonly found: readonly string[];
  /** Looked for in vain. */
  readonly missed: readonly string[];
}

/** `derivedOf`: what a derived facet of the proxy rests on. `holds`: see Tracker.provenance. */
export function restsOn(
  first: Entry,
  derivedOf: (facet: DerivedFacet) => Entry | undefined,
  holds: (value: unknown) => boolean,
): Provenance {
  const found = new Set<string>();
  const missed = new Set<string>();
  const seen = new Set<Entry>();
  const visit = (entry: Entry | undefined): void => {
    if (entry === undefined || seen.has(entry)) return;
    seen.add(entry);
    const parts = entry.calls.filter(call => holds(call.seen));
    for (const part of parts) visit(part.entry);
    if (parts.length > 0) return;
    for (const read of entry.reads) for (const [key, hit] of read.objects()) (hit ? found : missed).add(key);
    for (const call of entry.calls) visit(call.entry);
    for (const [facet] of entry.audience) if (facet.kind === 'derived') visit(derivedOf(facet));
  };
  visit(first);
  return { found: [...found].sort(), missed: [...missed].sort() };
}
