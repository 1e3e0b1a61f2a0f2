// The tracked reader: the only way for a query to look at the state and at a proxy. Everything read through it becomes
// a dependency of the value.
//
// Queries are keyed by their argument (a text, or a record with a `key`), selections by the content of an item,
// derivations by nothing but the proxy.

import type { Json } from '../base/json.ts';
import type { MeshConfig, MeshNetworks } from '../mesh/effective.ts';
import type { FeatureName, FeatureValue } from '../mesh/features.ts';
import type { Settings } from '../mesh/settings.ts';
import type { VerifiedIdentity } from '../model/identity.ts';
import type { Indexes, IndexName, KindName } from '../model/kind.ts';
import type { Obj } from '../model/object.ts';
import type { NodeFacets, ProxyRecord } from '../model/proxy.ts';
import type { Generator } from './memo.ts';

/**
 * A named, memoised, pure read of the state. Names are unique in the program. An argument that is not a text has a
 * `key`.
 */
export type Query<A, R> = QueryBody<A, R> & QueryKey<A>;

interface QueryBody<A, R> {
  readonly name: string;
  readonly run: (reader: ProxyReader, arg: A) => R;
  /** Of a bound selection: the result of `Selection.lineage`. */
  readonly lineage?: string | undefined;
}

/** `key`: the text by which the query's values are memoised. Arguments with equal keys must give equal values. */
type QueryKey<A> = [A] extends [string] ? { readonly key?: undefined } : { readonly key: (arg: A) => string };

/** A query of any argument, as the tracker keeps it. */
export interface AnyQuery {
  readonly name: string;
  readonly run: (reader: ProxyReader, arg: never) => unknown;
  readonly lineage?: string | undefined;
  readonly key?: ((arg: never) => string) | undefined;
}

/** Separates the parts of a key; occurs in no name, host or namespace, so keys of different parts differ. */
export const KEY_SEPARATOR = '\u0000';

/** A text argument is its own key. */
export function keyOf(query: AnyQuery, arg: unknown): string {
  return query.key === undefined ? (arg as string) : query.key(arg as never);
}

/**
 * A query whose argument is a record that the caller composed (an item), memoised by its content as the inputs of a
 * generator are. So callers that composed equal items, each in its own way, share one value although it reads the
 * state.
 */
export interface Selection<I extends object, R> {
  readonly name: string;
  readonly run: (reader: ProxyReader, item: I) => R;
  /**
   * For items that hold a long list and change a little at a time: items with equal text are successive versions of one
   * list. A run for a new version reuses the calls of the version before (`selectEach`), and equal parts of both
   * results are identical. Affects cost, never a value.
   */
  readonly lineage?: (item: I) => string;
}

/**
 * A facet of the proxy that depends on the state too: its labels, its Sidecar. Values that use it depend on its value,
 * not on how it came about.
 */
export interface Derivation<T extends Json> {
  readonly name: string;
  readonly run: (reader: ProxyReader) => T;
}

export interface Reader {
  /** The accepted object, or undefined; a miss is a dependency too. */
  object<K extends KindName>(kind: K, key: string): Obj<K> | undefined;
  /** All accepted objects of a kind whose key begins with `prefix`, in key order. */
  objects<K extends KindName>(kind: K, prefix?: string): readonly Obj<K>[];
  /** Objects under a key of a secondary index, in key order. */
  indexed<I extends IndexName>(index: I, key: string): readonly Obj<Indexes[I]>[];
  /** One field of the effective MeshConfig. */
  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F];
  networks(): MeshNetworks;
  setting<S extends keyof Settings>(name: S): Settings[S];
  feature<F extends FeatureName>(name: F): FeatureValue<F>;
  get<A, R>(query: Query<A, R>, arg: NoInfer<A>): R;
  /** The value of a selection for an item. */
  select<I extends object, R>(selection: Selection<I, R>, item: I): R;
  /**
   * `select` for each item, in order. Meant for long lists of which a later run has a version with few differences:
   * calls for identical items that are still current are reused without a look-up.
   */
  selectEach<I extends object, R>(selection: Selection<I, R>, items: readonly I[]): readonly R[];
  /** Runs a generator, or returns the identical output if inputs with equal elements were seen before. */
  make<I extends object, O>(generator: Generator<I, O>, inputs: I): O;
}

/** A reader for one proxy. The value of a query that calls none of these six is shared by all proxies. */
export interface ProxyReader extends Reader {
  facet<F extends keyof NodeFacets>(name: F): NodeFacets[F];
  /** A metadata value, as sent. */
  metadata(key: string): Json | undefined;
  /** True if the proxy has the extension compiled in, or lists none at all and so is taken for istio-proxy. */
  hasExtension(name: string): boolean;
  /** The identity that the client certificate proves; undefined if it proves none, or another than the node claims. */
  identity(): VerifiedIdentity | undefined;
  /** Which protocol the proxy is served by. */
  protocol(): ProxyRecord['protocol'];
  derived<T extends Json>(derivation: Derivation<T>): T;
}
