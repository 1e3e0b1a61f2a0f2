// Facets: the questions a query may ask about a proxy, one at a time. Values are interned by canonical text, so that "the same
// answer" is `===` and an audience can be compared quickly.

import { canonicalJson, type Json } from '../base/json.ts';
import { verifiedIdentity } from '../model/identity.ts';
import type { NodeFacets, ProxyRecord } from '../model/proxy.ts';
import type { Derivation, ProxyReader, Query } from './reader.ts';

export type FacetValue = Json | undefined;

/** There are as many as the program has names for. */
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
  usedIn: number;
  /** Forgotten: another one is asked instead. */
  gone: boolean;
}
export type Facet = PlainFacet | DerivedFacet;

/** A value that stands for all equal ones. */
interface Representative {
  readonly text: string;
  readonly value: FacetValue;
  usedIn: number;
}

export class FacetBook {
  /** Names of what may be asked for are unique within a kind only. */
  readonly #nodes = new Map<keyof NodeFacets, Facet>();
  readonly #metadata = new Map<string, Facet>();
  readonly #extensions = new Map<string, Facet>();
  readonly #identities = new Map<string, Facet>();
  readonly #derived = new Map<string, DerivedFacet>();
  readonly #queries = new WeakMap<Facet, Query<string, Json>>();
  readonly #byText = new Map<string, Representative>();
  readonly #byValue = new WeakMap<object, Representative>();
  #generation = 1;

  node(name: keyof NodeFacets): Facet {
    return this.#nodes.get(name) ?? known(this.#nodes, name, nodeFacet(name));
  }

  metadata(name: string): Facet {
    return this.#metadata.get(name) ?? known(this.#metadata, name, metadataFacet(name));
  }

  extension(name: string): Facet {
    return this.#extensions.get(name) ?? known(this.#extensions, name, extensionFacet(name));
  }

  /** Proven, not claimed. */
  identity(): Facet {
    return this.#identities.get('') ?? known(this.#identities, '', identityFacet());
  }

  derived(derivation: Derivation<Json>): Facet {
    const { name } = derivation;
    return this.#derived.get(name) ?? known(this.#derived, name, derivedFacet(derivation));
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
    if (facet.kind === 'derived') facet.usedIn = this.#generation;
    const one = typeof value === 'object' && value !== null ? this.#byValue.get(value) : undefined;
    if (one !== undefined) one.usedIn = this.#generation;
  }

  /** What was not asked for since the sweep before the last is forgotten. Nothing rests on a facet whose values were all swept. */
  sweep(): void {
    const oldest = this.#generation - 1;
    for (const [text, { usedIn }] of this.#byText) if (usedIn < oldest) this.#byText.delete(text);
    for (const [name, facet] of this.#derived) {
      if (facet.usedIn >= oldest) continue;
      facet.gone = true;
      this.#derived.delete(name);
    }
    this.#generation++;
  }
}

function known<K, F extends Facet>(facets: Map<K, F>, name: K, facet: F): F {
  facets.set(name, facet);
  return facet;
}

function plainFacet(id: string, of: PlainFacet['of']): Facet {
  return { kind: 'plain', id, of };
}

function nodeFacet(name: keyof NodeFacets): Facet {
  return plainFacet(`node:${name}`, proxy => proxy.facets[name] as unknown as FacetValue);
}

function metadataFacet(name: string): Facet {
  return plainFacet(`metadata:${name}`, proxy => proxy.metadata[name]);
}

function extensionFacet(name: string): Facet {
  return plainFacet(`extension:${name}`, ({ extensions }) => extensions === undefined || extensions.has(name));
}

function identityFacet(): Facet {
  return plainFacet('identity', proxy => verifiedIdentity(proxy) as unknown as FacetValue);
}

function derivedFacet(derivation: Derivation<Json>): DerivedFacet {
  return { kind: 'derived', id: `derived:${derivation.name}`, derivation, usedIn: 0, gone: false };
}
