// The last value of each selection that follows others (reader.ts), by audience: where the next one about other values finds its lists. A hint and
// nothing else: whatever is taken from it is checked.

import type { Entry } from './track-entry.ts';
import type { Facet, FacetValue } from './track-facets.ts';

/** Audiences of one selection that are remembered; namespaces mostly. */
export const LATEST_MAX = 256;

export class Latest {
  readonly #byKey = new Map<string, Entry[]>();

  /** The last one whose audience answers as `ask` does. */
  find(key: string, ask: (facet: Facet) => FacetValue): Entry | undefined {
    return this.#byKey.get(key)?.find(entry => !entry.gone && suits(entry, ask));
  }

  /** `before`: what `find` gave. */
  put(key: string, before: Entry | undefined, now: Entry): void {
    const others = (this.#byKey.get(key) ?? []).filter(entry => entry !== before && !entry.gone);
    this.#byKey.set(key, [now, ...others.slice(0, LATEST_MAX - 1)]);
  }

  /** Forgets what was last used before `oldest`. */
  sweep(oldest: number): void {
    for (const [key, entries] of this.#byKey) {
      const kept = entries.filter(entry => !entry.gone && entry.usedIn >= oldest);
      if (kept.length === 0) this.#byKey.delete(key);
      else this.#byKey.set(key, kept);
    }
  }
}

export function suits(entry: Entry, ask: (facet: Facet) => FacetValue): boolean {
  return entry.audience.every(([facet, value]) => ask(facet) === value);
}
