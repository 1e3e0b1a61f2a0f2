// The interface of a kind to the rest of the program: names, keys, decoding, validation, projection, indexes and push
// handler. One definition a kind, in the kind's own file, made by istioKind, configKind or kubernetesKind; registry.ts
// lists them all.
//
// The decoded content is what everything downstream reads; nothing downstream looks at the raw object again.

import type { Either } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import type { JsonObject } from '../base/json.ts';
import type { Problem } from '../base/problem.ts';
import { atOnce, type Steps } from '../base/steps.ts';
import type { RawObject } from '../event.ts';
import type { IndexEntries, IndexesOf, IndexName, KindName, KindPushes, KindSpecs } from '../model/kind.ts';
import type { Obj } from '../model/object.ts';
import type { Reference } from './references.ts';

/**
 * Members of metadata that the projection keeps for this kind alone. A function sees the object, whose projection gives
 * the same.
 */
export type KeepMeta = readonly string[] | ((raw: RawObject) => readonly string[]);

export interface KindDefinition<K extends KindName = KindName> {
  readonly kind: K;
  /** What objects call the kind, where two kinds of different groups have one name; `kind` when absent. */
  readonly objectKind?: string;
  /** Accepted, but nothing acts on it yet: what users miss. Reported once for each change of an object. */
  readonly notYet?: string;
  /** Empty for the core group of Kubernetes. */
  readonly group: string;
  /** Served versions, the storage version first. All decode alike unless the definition says otherwise. */
  readonly versions: readonly string[];
  readonly clusterScoped: boolean;
  /** `config`: keyed namespace/name, taken from the config cluster only. `kubernetes`: keyed cluster/namespace/name. */
  readonly store: 'config' | 'kubernetes';
  readonly keepMeta?: KeepMeta;
  /**
   * Decode and validate; every problem found, with its path. Total for any JSON of a sound shape, which decodeMeta sees
   * to (limits.ts).
   */
  readonly decode: (object: RawObject) => Either<NonEmptyArray<Problem>, KindSpecs[K]>;
  /** `decode` in steps. */
  readonly decoding: (object: RawObject) => Steps<Either<NonEmptyArray<Problem>, KindSpecs[K]>>;
  /**
   * The part of the raw object whose change matters; changes outside of it are not journalled and push nothing. Total,
   * and idempotent: the projection of a projection is itself. Decoding the object or its projection gives the same,
   * if the whole object is within the limits (limits.ts).
   */
  readonly project: (object: RawObject) => JsonObject;
  /** Only the projection is journalled: the rest is large, or changes all the time, and no release will read it. */
  readonly trim?: true;
  /** Only metadata is read: a source that can do so need not fetch the rest. */
  readonly metadataOnly?: true;
  /** The push request of a change of an object. */
  readonly push: KindPushes[K];
  readonly indexNames: readonly IndexName[];
  /**
   * Secondary index entries of an object, one member for each of `indexNames`. (A method: it is called with its own
   * kind only.)
   */
  indexes(obj: Obj<K>): IndexEntries;
  /** Absent for kinds that decide nothing. */
  readonly standIn?: StandIn<KindSpecs[K]>;
  /** The object's references, as written; absent for kinds without references. */
  references?(obj: Obj<K>): readonly Reference[];
}

/** Both ways of decoding. */
export function decodedBy<R>(decoding: (object: RawObject) => Steps<R>): {
  readonly decode: (object: RawObject) => R;
  readonly decoding: (object: RawObject) => Steps<R>;
} {
  return { decoding, decode: object => atOnce(decoding(object)) };
}

/** What acts in place of an object whose first version is refused, so that a policy with a mistake does not open. */
export interface StandIn<Spec> {
  /** Undefined: nothing has to act. */
  specOf(object: RawObject): Spec | undefined;
  /** Told to the author, after "until a version is accepted, ". */
  effect(spec: Spec): string;
}

/** The declarations in a kind's file that do not depend on its family, besides decoding. */
export type Declaration<K extends KindName> = Pick<
  KindDefinition<K>,
  'kind' | 'group' | 'versions' | 'push' | 'notYet'
> & {
  readonly references?: (obj: Obj<K>) => readonly Reference[];
} & ([IndexesOf<K>] extends [never] ? { readonly indexes?: never } : { readonly indexes: IndexKeys<K> });

/** Index name → the keys under which an object is found. */
export type IndexKeys<K extends KindName> = { readonly [I in IndexesOf<K>]: (obj: Obj<K>) => readonly string[] };

/** The part of a definition that every family takes over from the declaration as it is. */
export function declared<K extends KindName>(from: Declaration<K>) {
  const { kind, group, versions, push, notYet, references } = from;
  const keys = Object.entries<(obj: Obj<K>) => readonly string[]>(from.indexes ?? {});
  return {
    kind,
    group,
    versions,
    push,
    indexNames: keys.map(([name]) => name as IndexName),
    indexes: (obj: Obj<K>): IndexEntries => {
      const entries: { [I in IndexName]?: readonly string[] } = {};
      for (const [name, keysOf] of keys) entries[name as IndexName] = keysOf(obj);
      return entries;
    },
    ...(references === undefined ? {} : { references }),
    ...(notYet === undefined ? {} : { notYet }),
  };
}
