// The bars of the strip, divided by kind, source, manager or namespace: few enough parts that their colours can be told
// apart, the most frequent first, what is left in one.
//
// Invariant: the parts of a bar add up to its events; what the index has not reached yet is a part of its own.

import type { Density } from '../../src/admin/explorer/api.ts';

/** What bars may be divided by, and the parameter of the address that filters by it. */
export const SPLITS = [
  { split: 'kind', title: 'kind', filter: 'kind' },
  { split: 'source', title: 'source', filter: 'source' },
  { split: 'manager', title: 'manager', filter: 'manager' },
  { split: 'namespace', title: 'namespace', filter: 'ns' },
] as const;
export type Split = (typeof SPLITS)[number];

/** Colours that there are, the one of all others included. */
export const PARTS_SHOWN = 6;
/** As the server calls what is beyond its own limit. */
const OTHERS = 'other';
/** Of events without a manager or namespace. */
const NONE = '(none)';

export interface Parts {
  readonly names: readonly string[];
  /** Of each bucket the events of each name, in that order. */
  readonly counts: readonly (readonly number[])[];
}

export function splitNamed(name: string | undefined): Split {
  return SPLITS.find(({ split }) => split === name) ?? SPLITS[0];
}

export function partsOf({ parts, buckets }: Density): Parts {
  const isWhole = parts.length <= PARTS_SHOWN && buckets.every(bucket => sum(bucket.parts) === bucket.events);
  if (isWhole) return { names: parts, counts: buckets.map(bucket => bucket.parts) };
  // The server's own rest is the last of its parts.
  const listed = parts.slice(0, PARTS_SHOWN - 1).filter(name => name !== OTHERS);
  const counts = buckets.map(bucket => {
    const own = listed.map((_, i) => bucket.parts[i] ?? 0);
    return [...own, bucket.events - sum(own)];
  });
  return { names: [...listed, OTHERS], counts };
}

/** The number of a part's colour. The rest has its own, whatever stands before it: it is no kind of events. */
export function colourOf(names: readonly string[], place: number): number {
  return names[place] === OTHERS ? PARTS_SHOWN : place + 1;
}

/** Whether events can be filtered by the name. */
export function isFilter(name: string): boolean {
  return name !== OTHERS && name !== NONE;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
