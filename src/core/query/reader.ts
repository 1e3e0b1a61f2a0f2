// The tracked reader: the only way a query looks at the state and at a proxy. Everything asked for becomes part of its read set.

import type { Json } from '../base/json.ts';
import type { Indexes, IndexName, KindName } from '../kinds/kinds.ts';
import type { FeatureName, FeatureValue } from '../mesh/features.ts';
import type { MeshConfig, MeshNetworks } from '../mesh/mesh-config.ts';
import type { Settings } from '../mesh/settings.ts';
import type { VerifiedIdentity } from '../model/identity.ts';
import type { Obj } from '../model/object.ts';
import type { NodeFacets } from '../model/proxy.ts';
import type { Generator } from './memo.ts';

/** A named, memoised, pure read of the state. Names are unique in the program. */
export interface Query<A extends string, R> {
  readonly name: string;
  readonly run: (reader: ProxyReader, arg: A) => R;
  /** Of a selection: see there. */
  readonly follows?: string | undefined;
}

/**
 * A query about values that the caller found, instead of about a key: memoised by them, compared element by element as the inputs of a
 * generator are. So callers that found the same, each in its own way, share one value although it reads the state.
 */
export interface Selection<I extends object, R> {
  readonly name: string;
  readonly run: (reader: ProxyReader, of: I) => R;
  /**
   * For long lists that change a little: what is about different values with the same text follows one another, so the lists of the later run are
   * found in those of the earlier one (`aboutEach`), and what is equal in both results is identical. Changes no value.
   */
  readonly follows?: (of: I) => string;
}

/** A value that follows from one proxy and the state, and that others may depend on by value (labels, chosen Sidecar, …). */
export interface Derivation<T extends Json> {
  readonly name: string;
  readonly run: (reader: ProxyReader) => T;
}

export interface Reader {
  /** The accepted object, or undefined: a miss is remembered too. */
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
  get<A extends string, R>(query: Query<A, R>, arg: A): R;
  about<I extends object, R>(selection: Selection<I, R>, of: I): R;
  /**
   * `about` of each, in order. Meant for long lists that come again with few differences: what was asked about the identical values before, and
   * still stands, is not looked for again.
   */
  aboutEach<I extends object, R>(selection: Selection<I, R>, of: readonly I[]): readonly R[];
  /** Runs a generator on inputs; equal inputs (element by element, by identity) give the identical output, whoever asks. */
  make<I extends object, O>(generator: Generator<I, O>, inputs: I): O;
}

/** A reader for one proxy. Queries that never call these five are shared by everybody. */
export interface ProxyReader extends Reader {
  facet<F extends keyof NodeFacets>(name: F): NodeFacets[F];
  /** A metadata value, as sent. */
  metadata(key: string): Json | undefined;
  /** True if the proxy has the extension compiled in, or lists none at all and so is taken for istio-proxy. */
  hasExtension(name: string): boolean;
  /** What the proxy's certificate proves; undefined: nothing, or not what its node claims. */
  identity(): VerifiedIdentity | undefined;
  derived<T extends Json>(derivation: Derivation<T>): T;
}
