// Readers without dependency tracking. Push handlers use them to run the registry's queries on the state before and
// after a change. They read for no proxy; a query that asks for a facet is a programming error here.
//
// Most tables of two successive states are the same object. A value read only from those is computed once and shared by
// both readers, so a comparison costs what the change affects, and an unaffected value is the identical object on both
// sides.

import { AssertionFailed } from '../base/assert.ts';
import type { Json } from '../base/json.ts';
import type { MeshConfig, MeshNetworks } from '../mesh/effective.ts';
import { type FeatureName, type FeatureValue, featureOf } from '../mesh/features.ts';
import type { Settings } from '../mesh/settings.ts';
import type { VerifiedIdentity } from '../model/identity.ts';
import type { Indexes, IndexName, KindName } from '../model/kind.ts';
import type { Obj } from '../model/object.ts';
import type { NodeFacets, ProxyRecord } from '../model/proxy.ts';
import type { State } from '../state.ts';
import type { Generator } from './memo.ts';
import { type AnyQuery, keyOf, type ProxyReader, type Query, type Reader, type Selection } from './reader.ts';

/** The reader keeps every value it computes: make one for each use and drop it. */
export function untrackedReader(state: State): Reader {
  return new UntrackedReader(state, state, new Map());
}

/**
 * Two readers that share the values which do not depend on the difference between the states. `given`: values that both
 * take for those of queries with the argument '', by the name of the query.
 */
export function readersOf(
  before: State,
  after: State,
  given: Readonly<Record<string, unknown>> = {},
): { readonly before: Reader; readonly after: Reader } {
  const shared: Values = new Map(Object.entries(given).map(([name, value]) => [name, new Map([['', value]])]));
  return {
    before: new UntrackedReader(before, after, shared),
    after: new UntrackedReader(after, before, shared),
  };
}

/** By query, then by the key of the argument. */
type Values = Map<string, Map<string, unknown>>;

class UntrackedReader implements ProxyReader {
  readonly #state: State;
  readonly #other: State;
  /** Values computed from what both states share. */
  readonly #shared: Values;
  readonly #own: Values = new Map();
  /** Set by a read of something that differs between the states; decides where the running query's value is kept. */
  #readOwn = false;

  constructor(state: State, other: State, shared: Values) {
    this.#state = state;
    this.#other = other;
    this.#shared = shared;
  }

  object<K extends KindName>(kind: K, key: string): Obj<K> | undefined {
    const table = this.#state.objects[kind];
    if (table !== this.#other.objects[kind]) this.#readOwn = true;
    return table.get(key) as Obj<K> | undefined;
  }

  objects<K extends KindName>(kind: K, prefix = ''): readonly Obj<K>[] {
    const table = this.#state.objects[kind];
    if (table !== this.#other.objects[kind]) this.#readOwn = true;
    return table.range(prefix) as readonly Obj[] as readonly Obj<K>[];
  }

  indexed<I extends IndexName>(index: I, key: string): readonly Obj<Indexes[I]>[] {
    const table = this.#state.indexes[index];
    if (table !== this.#other.indexes[index]) this.#readOwn = true;
    return table.range(`${key}|`) as readonly Obj[] as readonly Obj<Indexes[I]>[];
  }

  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F] {
    if (this.#state.mesh !== this.#other.mesh) this.#readOwn = true;
    return this.#state.mesh.effective[field];
  }

  networks(): MeshNetworks {
    if (this.#state.networks !== this.#other.networks) this.#readOwn = true;
    return this.#state.networks.effective;
  }

  setting<S extends keyof Settings>(name: S): Settings[S] {
    if (this.#state.settings !== this.#other.settings) this.#readOwn = true;
    return this.#state.settings[name];
  }

  feature<F extends FeatureName>(name: F): FeatureValue<F> {
    if (this.#state.settings !== this.#other.settings) this.#readOwn = true;
    return featureOf(this.#state.settings, name);
  }

  get<A, R>(query: Query<A, R>, arg: NoInfer<A>): R {
    const shared = valuesOf(this.#shared, query.name);
    const key = keyOf(query as AnyQuery, arg);
    const known = shared.get(key);
    if (known !== undefined || shared.has(key)) return known as R;
    const own = valuesOf(this.#own, query.name);
    if (own.has(key)) {
      this.#readOwn = true;
      return own.get(key) as R;
    }
    const readOwn = this.#readOwn;
    this.#readOwn = false;
    const value = query.run(this, arg);
    (this.#readOwn ? own : shared).set(key, value);
    this.#readOwn ||= readOwn;
    return value;
  }

  select<I extends object, R>(selection: Selection<I, R>, item: I): R {
    return selection.run(this, item);
  }

  selectEach<I extends object, R>(selection: Selection<I, R>, items: readonly I[]): readonly R[] {
    return items.map(item => selection.run(this, item));
  }

  make<I extends object, O>(generator: Generator<I, O>, inputs: I): O {
    return generator.run(inputs);
  }

  facet<F extends keyof NodeFacets>(): NodeFacets[F] {
    return noProxy();
  }

  metadata(): Json | undefined {
    return noProxy();
  }

  hasExtension(): boolean {
    return noProxy();
  }

  identity(): VerifiedIdentity | undefined {
    return noProxy();
  }

  protocol(): ProxyRecord['protocol'] {
    return noProxy();
  }

  derived<T extends Json>(): T {
    return noProxy();
  }
}

function noProxy(): never {
  throw new AssertionFailed('a query that reads the proxy was run by a reader without one');
}

function valuesOf(values: Values, name: string): Map<string, unknown> {
  let found = values.get(name);
  if (found === undefined) {
    found = new Map();
    values.set(name, found);
  }
  return found;
}
