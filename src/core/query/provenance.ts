// Provenance: the object keys that a memoised value depends on, through all its reads and calls.

import type { BoundSelection, Call, Entry } from './entry.ts';
import type { DerivedFacet } from './facets.ts';

/** Object keys as `Kind/key`, sorted. */
export interface Provenance {
  readonly found: readonly string[];
  /** Keys that were read and had no object. */
  readonly missed: readonly string[];
}

/** `derivedEntry`: the entry of a derived facet of the proxy. `includes`: see Tracker.provenance. */
export function provenanceOf(
  root: Entry,
  derivedEntry: (facet: DerivedFacet) => Entry | undefined,
  includes: (value: unknown) => boolean,
): Provenance {
  const found = new Set<string>();
  const missed = new Set<string>();
  const visited = new Set<Entry>();
  const visit = (entry: Entry | undefined): void => {
    if (entry === undefined || visited.has(entry)) return;
    visited.add(entry);
    const included = entry.calls.filter(call => includes(call.value));
    for (const call of included) visit(call.entry);
    for (const call of sourcesOf(entry, included)) visit(call.entry);
    if (included.length > 0) return;
    for (const read of entry.reads) for (const [key, hit] of read.objectKeys()) (hit ? found : missed).add(key);
    for (const call of entry.calls) visit(call.entry);
    for (const [facet] of entry.facetKey) if (facet.kind === 'derived') visit(derivedEntry(facet));
  };
  visit(root);
  return { found: [...found].sort(), missed: [...missed].sort() };
}

/** The calls that gave what the selections among `included` were asked for. */
function sourcesOf({ calls }: Entry, included: readonly Call[]): readonly Call[] {
  const asked = new Set<unknown>();
  for (const { binding } of included) {
    if (binding === undefined) continue;
    const { item } = binding.value as BoundSelection;
    asked.add(item);
    for (const member of Object.values(item)) if (member !== null && typeof member === 'object') asked.add(member);
  }
  if (asked.size === 0) return [];
  const gave = (value: unknown): boolean =>
    asked.has(value) || (Array.isArray(value) && value.some(one => asked.has(one)));
  return calls.filter(({ value }) => gave(value));
}
