// Facets: the questions a query may ask about a proxy, one at a time. Values are interned by canonical text, so that "the same
// answer" is `===` and an audience can be compared quickly.

import { verifiedIdentity } from './identity.ts';
import { canonicalJson, type Json } from './json.ts';
import type { NodeFacets, ProxyRecord } from './proxy.ts';
import type { Derivation, ProxyReader, Query } from './reader.ts';

export type FacetValue = Json | undefined;

export interface PlainFacet {
  readonly kind: 'plain';
  readonly id: string;
  readonly of: (proxy: ProxyRecord) => FacetValue;
}
/** Worked out from the state and the proxy, by a query of its own. */
export interface DerivedFacet {
  readonly kind: 'derived';
  readonly id: string;
  readonly derivation: Derivation<Json>;
}
export type Facet = PlainFacet | DerivedFacet;

/** A value that stands for all equal ones. */
interface Representative {
  readonly text: string;
  readonly value: FacetValue;
  usedIn: number;
}

interface KnownFacet {
  readonly facet: Facet;
  usedIn: number;
}

export class FacetBook {
  readonly #facets = new Map<string, KnownFacet>();
  readonly #queries = new WeakMap<Facet, Query<string, Json>>();
  readonly #byText = new Map<string, Representative>();
  readonly #byValue = new WeakMap<object, Representative>();
  #generation = 1;

  node(name: keyof NodeFacets): Facet {
    return this.#facet(`node:${name}`, id => ({
      kind: 'plain',
      id,
      of: proxy => proxy.facets[name] as unknown as FacetValue,
    }));
  }

  metadata(name: string): Facet {
    return this.#facet(`metadata:${name}`, id => ({ kind: 'plain', id, of: proxy => proxy.metadata[name] }));
  }

  extension(name: string): Facet {
    return this.#facet(`extension:${name}`, id => ({
      kind: 'plain',
      id,
      of: proxy => proxy.extensions === undefined || proxy.extensions.has(name),
    }));
  }

  /** Proven, not claimed. */
  identity(): Facet {
    return this.#facet('identity', id => ({
      kind: 'plain',
      id,
      of: proxy => verifiedIdentity(proxy) as unknown as FacetValue,
    }));
  }

  derived(derivation: Derivation<Json>): Facet {
    return this.#facet(`derived:${derivation.name}`, id => ({ kind: 'derived', id, derivation }));
  }

  queryOf(facet: DerivedFacet): Query<string, Json> {
    const known = this.#queries.get(facet);
    if (known !== undefined) return known;
    const query: Query<string, Json> = {
      name: facet.id,
      run: (reader: ProxyReader) => facet.derivation.run(reader),
    };
    this.#queries.set(facet, query);
    return query;
  }

  /** Equal JSON values become one. Scalars are their own representatives. */
  intern(value: FacetValue): FacetValue {
    if (typeof value !== 'object' || value === null) return value;
    const known = this.#byValue.get(value);
    if (known?.usedIn === this.#generation) return known.value;
    const text = known?.text ?? canonicalJson(value);
    // A value may outlive the memory of its text: it is then told the representative that others have found since, or is it again.
    const now = this.#byText.get(text) ?? known ?? { text, value, usedIn: 0 };
    now.usedIn = this.#generation;
    this.#byText.set(text, now);
    this.#byValue.set(value, now);
    return now.value;
  }

  /** Counts as asked for: something that is kept rests on it. */
  keep(facet: Facet, value: FacetValue): void {
    const known = this.#facets.get(facet.id);
    if (known?.facet === facet) known.usedIn = this.#generation;
    const one = typeof value === 'object' && value !== null ? this.#byValue.get(value) : undefined;
    if (one !== undefined) one.usedIn = this.#generation;
  }

  /** What was not asked for since the sweep before the last is forgotten. */
  sweep(): void {
    const oldest = this.#generation - 1;
    for (const [text, { usedIn }] of this.#byText) if (usedIn < oldest) this.#byText.delete(text);
    for (const [id, { usedIn }] of this.#facets) if (usedIn < oldest) this.#facets.delete(id);
    this.#generation++;
  }

  #facet(id: string, make: (id: string) => Facet): Facet {
    const known = this.#facets.get(id) ?? { facet: make(id), usedIn: 0 };
    known.usedIn = this.#generation;
    this.#facets.set(id, known);
    return known.facet;
  }
}
