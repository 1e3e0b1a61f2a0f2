// Facets: the attributes of a proxy that a query may read, one at a time, so that a value depends on the attributes it
// used and not on the whole node.
//
// Invariant: facet values are interned by canonical JSON, so equal values are the identical object. Facet keys are
// therefore compared by `===`.

import { canonicalJson, type Json } from '../base/json.ts';
import { verifiedIdentity } from '../model/identity.ts';
import type { NodeFacets, ProxyRecord } from '../model/proxy.ts';
import type { Derivation, ProxyReader, Query } from './reader.ts';

export type FacetValue = Json | undefined;

/** Read from the proxy's record. The set of them is bounded by the names in the program, so none is ever dropped. */
export interface PlainFacet {
  readonly kind: 'plain';
  readonly id: string;
  readonly read: (proxy: ProxyRecord) => FacetValue;
}
/** The value of a query over state and proxy. */
export interface DerivedFacet {
  readonly kind: 'derived';
  readonly id: string;
  readonly derivation: Derivation<Json>;
  usedInEpoch: number;
  /** Dropped by a sweep: a later use of the derivation makes a new facet. */
  forgotten: boolean;
}
export type Facet = PlainFacet | DerivedFacet;

/** The one object that represents all equal values. */
interface Representative {
  readonly text: string;
  readonly value: FacetValue;
  usedInEpoch: number;
}

export class FacetRegistry {
  /** One map for each kind: names are unique within a kind only. */
  readonly #nodes = new Map<keyof NodeFacets, Facet>();
  readonly #metadata = new Map<string, Facet>();
  readonly #extensions = new Map<string, Facet>();
  readonly #identities = new Map<string, Facet>();
  readonly #derived = new Map<string, DerivedFacet>();
  readonly #queries = new WeakMap<Facet, Query<string, Json>>();
  readonly #byText = new Map<string, Representative>();
  readonly #byValue = new WeakMap<object, Representative>();
  #epoch = 1;

  node(name: keyof NodeFacets): Facet {
    return this.#nodes.get(name) ?? known(this.#nodes, name, nodeFacet(name));
  }

  metadata(name: string): Facet {
    return this.#metadata.get(name) ?? known(this.#metadata, name, metadataFacet(name));
  }

  extension(name: string): Facet {
    return this.#extensions.get(name) ?? known(this.#extensions, name, extensionFacet(name));
  }

  /** The identity that the client certificate proves, not the one that the node claims. */
  identity(): Facet {
    return this.#identities.get('') ?? known(this.#identities, '', identityFacet());
  }

  protocol(): Facet {
    return protocolFacet;
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

  /** The representative of a value. Scalars represent themselves. */
  intern(value: FacetValue): FacetValue {
    if (typeof value !== 'object' || value === null) return value;
    const known = this.#byValue.get(value);
    if (known?.usedInEpoch === this.#epoch) return known.value;
    const text = known?.text ?? canonicalJson(value);
    // The text of a value may be swept while the value lives. An equal value may have become the representative since;
    // if none has, this one is the representative again.
    const now = this.#byText.get(text) ?? known ?? { text, value, usedInEpoch: 0 };
    now.usedInEpoch = this.#epoch;
    this.#byText.set(text, now);
    this.#byValue.set(value, now);
    return now.value;
  }

  /** Marks a facet and its value as used: an entry that is kept has them in its facet key. */
  touch(facet: Facet, value: FacetValue): void {
    if (facet.kind === 'derived') facet.usedInEpoch = this.#epoch;
    const one = typeof value === 'object' && value !== null ? this.#byValue.get(value) : undefined;
    if (one !== undefined) one.usedInEpoch = this.#epoch;
  }

  /**
   * Drops derived facets and representatives used neither in this epoch nor in the previous one. No kept entry has them
   * in its key.
   */
  sweep(): void {
    const oldest = this.#epoch - 1;
    for (const [text, { usedInEpoch }] of this.#byText) if (usedInEpoch < oldest) this.#byText.delete(text);
    for (const [name, facet] of this.#derived) {
      if (facet.usedInEpoch >= oldest) continue;
      facet.forgotten = true;
      this.#derived.delete(name);
    }
    this.#epoch++;
  }
}

function known<K, F extends Facet>(facets: Map<K, F>, name: K, facet: F): F {
  facets.set(name, facet);
  return facet;
}

function plainFacet(id: string, read: PlainFacet['read']): Facet {
  return { kind: 'plain', id, read };
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

const protocolFacet = plainFacet('protocol', proxy => proxy.protocol);

function derivedFacet(derivation: Derivation<Json>): DerivedFacet {
  return { kind: 'derived', id: `derived:${derivation.name}`, derivation, usedInEpoch: 0, forgotten: false };
}
