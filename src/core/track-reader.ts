// One run of a query: the reader that it is given, and what it reads through it. One object, and nothing else before it is needed: cold starts
// are made of runs by the hundred thousand.

import { assert } from './assert.ts';
import type { FeatureName, FeatureValue } from './features.ts';
import type { VerifiedIdentity } from './identity.ts';
import type { Json } from './json.ts';
import type { Indexes, IndexName, KindName } from './kinds/kinds.ts';
import type { Generator, InputMemo, MadeCell } from './memo.ts';
import type { MeshConfig, MeshNetworks } from './mesh.ts';
import type { Obj } from './object.ts';
import type { NodeFacets, ProxyRecord } from './proxy.ts';
import type { Derivation, ProxyReader, Query, Selection } from './reader.ts';
import type { Settings } from './settings.ts';
import type { State } from './state.ts';
import type { Asked, Entry, QueryRead } from './track-entry.ts';
import type { Facet, FacetBook, FacetValue } from './track-facets.ts';
import type { Read, ReadIndex } from './track-reads.ts';

/** What runs need of the tracker that they belong to. */
export interface Tracking {
  readonly index: ReadIndex<Entry>;
  readonly facets: FacetBook;
  readonly made: InputMemo;
  readonly generation: () => number;
  readonly spend: () => void;
  readonly generated: () => void;
  readonly ensure: (
    state: State,
    proxy: ProxyRecord | undefined,
    query: Query<string, unknown>,
    arg: string,
    key: string,
  ) => Entry;
  readonly facetValue: (state: State, proxy: ProxyRecord, facet: Facet) => FacetValue;
}

const NOTHING: readonly never[] = [];

export class Run implements ProxyReader {
  readonly #tracking: Tracking;
  readonly #state: State;
  readonly #proxy: ProxyRecord | undefined;
  #asked: Map<string, Asked> | undefined;
  #reads: Set<Read<Entry>> | undefined;
  #calls: Map<string, QueryRead> | undefined;
  #made: Set<MadeCell> | undefined;

  constructor(tracking: Tracking, state: State, proxy: ProxyRecord | undefined) {
    this.#tracking = tracking;
    this.#state = state;
    this.#proxy = proxy;
  }

  /** What adds to the audience, in the order of the first asking. */
  get asked(): readonly Asked[] {
    return this.#asked === undefined ? NOTHING : [...this.#asked.values()];
  }

  get reads(): readonly Read<Entry>[] {
    return this.#reads === undefined ? NOTHING : [...this.#reads];
  }

  get calls(): readonly QueryRead[] {
    return this.#calls === undefined ? NOTHING : [...this.#calls.values()];
  }

  get made(): readonly MadeCell[] {
    return this.#made === undefined ? NOTHING : [...this.#made];
  }

  object<K extends KindName>(kind: K, key: string): Obj<K> | undefined {
    return this.#read(this.#tracking.index.object(this.#state, kind, key));
  }

  objects<K extends KindName>(kind: K, prefix = ''): readonly Obj<K>[] {
    return this.#read(this.#tracking.index.range(this.#state, kind, prefix));
  }

  indexed<I extends IndexName>(index: I, key: string): readonly Obj<Indexes[I]>[] {
    return this.#read(this.#tracking.index.index(this.#state, index, key));
  }

  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F] {
    return this.#read(this.#tracking.index.mesh(this.#state, field));
  }

  networks(): MeshNetworks {
    return this.#read(this.#tracking.index.networks(this.#state));
  }

  setting<S extends keyof Settings>(name: S): Settings[S] {
    return this.#read(this.#tracking.index.setting(this.#state, name));
  }

  feature<F extends FeatureName>(name: F): FeatureValue<F> {
    return this.#read(this.#tracking.index.feature(this.#state, name));
  }

  get<A extends string, R>(query: Query<A, R>, arg: A): R {
    return this.#call(query as Query<string, unknown>, arg) as R;
  }

  about<I extends object, R>(selection: Selection<I, R>, of: I): R {
    const bound: Query<string, unknown> = { name: selection.name, run: own => selection.run(own, of) };
    return this.#call(bound, this.#tracking.made.keyOf(of)) as R;
  }

  make<I extends object, O>(generator: Generator<I, O>, inputs: I): O {
    const { made, generation, spend, generated } = this.#tracking;
    const { cell, fresh } = made.make(generator as never, inputs, generation(), spend);
    if (fresh) generated();
    this.#made ??= new Set();
    this.#made.add(cell);
    return cell.value as O;
  }

  facet<F extends keyof NodeFacets>(name: F): NodeFacets[F] {
    return this.#facet(this.#tracking.facets.node(name)) as unknown as NodeFacets[F];
  }

  metadata(key: string): Json | undefined {
    return this.#facet(this.#tracking.facets.metadata(key));
  }

  hasExtension(name: string): boolean {
    return this.#facet(this.#tracking.facets.extension(name)) as boolean;
  }

  identity(): VerifiedIdentity | undefined {
    return this.#facet(this.#tracking.facets.identity()) as unknown as VerifiedIdentity | undefined;
  }

  derived<T extends Json>(derivation: Derivation<T>): T {
    return this.#facet(this.#tracking.facets.derived(derivation)) as T;
  }

  #read<T>(read: Read<Entry>): T {
    this.#reads ??= new Set();
    this.#reads.add(read);
    return read.seen as T;
  }

  #facet(facet: Facet): FacetValue {
    const proxy = this.#proxy;
    assert(proxy !== undefined, `${facet.id} of a proxy was asked for where there is none`);
    const value = this.#tracking.facetValue(this.#state, proxy, facet);
    this.#asked ??= new Map();
    this.#asked.set(facet.id, [facet, value]);
    return value;
  }

  /** A call passes the audience of the called on to the caller: its value depends on the same facets. */
  #call(query: Query<string, unknown>, arg: string): unknown {
    const key = `${query.name}\u0000${arg}`;
    const known = this.#calls?.get(key);
    if (known !== undefined) return known.seen;
    const entry = this.#tracking.ensure(this.#state, this.#proxy, query, arg, key);
    const call: QueryRead = { query, arg, seen: entry.value, entry, audience: entry.audience };
    this.#calls ??= new Map();
    this.#calls.set(key, call);
    this.#asked ??= new Map();
    this.#asked.set(key, call);
    return entry.value;
  }
}
