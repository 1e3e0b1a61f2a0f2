// Facets: the questions a query may ask about a proxy, one at a time. Values are interned by canonical text, so that "the same
// answer" is `===` and an audience can be compared quickly.

import { canonicalJson, type Json } from './json.ts';
import type { NodeFacets, ProxyRecord } from './proxy.ts';
import type { Derivation, ProxyReader, Query } from './reader.ts';

export type FacetValue = Json | undefined;

export type Facet =
  | { readonly kind: 'plain'; readonly id: string; readonly of: (proxy: ProxyRecord) => FacetValue }
  | { readonly kind: 'derived'; readonly id: string; readonly derivation: Derivation<Json> };

export class FacetBook {
  readonly #facets = new Map<string, Facet>();
  readonly #queries = new Map<string, Query<string, Json>>();
  #values = new Map<string, FacetValue>();
  #older = new Map<string, FacetValue>();
  readonly #texts = new WeakMap<object, FacetValue>();

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

  derived(derivation: Derivation<Json>): Facet {
    return this.#facet(`derived:${derivation.name}`, id => ({ kind: 'derived', id, derivation }));
  }

  queryOf(facet: Facet & { readonly kind: 'derived' }): Query<string, Json> {
    const known = this.#queries.get(facet.id);
    if (known !== undefined) return known;
    const query: Query<string, Json> = {
      name: facet.id,
      run: (reader: ProxyReader) => facet.derivation.run(reader),
    };
    this.#queries.set(facet.id, query);
    return query;
  }

  /** Equal JSON values become one. Scalars are their own representatives. */
  intern(value: FacetValue): FacetValue {
    if (typeof value !== 'object' || value === null) return value;
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    const text = canonicalJson(value);
    const representative = this.#values.get(text) ?? this.#older.get(text) ?? value;
    this.#values.set(text, representative);
    this.#texts.set(value, representative);
    return representative;
  }

  /** Two generations: a value that nobody interned since the sweep before the last is forgotten. */
  sweep(): void {
    this.#older = this.#values;
    this.#values = new Map();
  }

  #facet(id: string, make: (id: string) => Facet): Facet {
    const known = this.#facets.get(id);
    if (known !== undefined) return known;
    const facet = make(id);
    this.#facets.set(id, facet);
    return facet;
  }
}
