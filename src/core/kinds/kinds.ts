// The kinds the core knows: what each is called, how it is keyed, decoded, validated and indexed. One definition a kind, in its own file.

import type { Either } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import type { RawObject } from '../event.ts';
import type { JsonObject } from '../json.ts';
import type { Obj } from '../object.ts';
import type { Problem } from '../problem.ts';

/** Decoded content by kind. Istio kinds: the spec. Kubernetes kinds: what Periplus uses of the whole object. */
export interface KindSpecs {
  readonly VirtualService: JsonObject;
}
export type KindName = keyof KindSpecs;

export interface KindDefinition<K extends KindName = KindName> {
  readonly kind: K;
  readonly group: string;
  /** Served versions, the storage version first. All decode alike unless the definition says otherwise. */
  readonly versions: readonly string[];
  readonly clusterScoped: boolean;
  /** `config`: keyed namespace/name, taken from the config cluster only. `kubernetes`: keyed cluster/namespace/name. */
  readonly store: 'config' | 'kubernetes';
  /** Decode and validate; every problem found, with its path. */
  readonly decode: (object: RawObject) => Either<NonEmptyArray<Problem>, KindSpecs[K]>;
  /** The part of the raw object whose change matters; what is outside is not journalled and pushes nothing. */
  readonly project: (object: RawObject) => JsonObject;
  /** Secondary index entries of an object: index name → keys under which it is found. */
  readonly indexes: (obj: Obj<K>) => Readonly<Partial<Record<IndexName, readonly string[]>>>;
}

/** Secondary indexes: name → meaning of the key. */
export interface Indexes {
  /** `cluster/namespace/service` → EndpointSlice */
  readonly slicesByService: 'EndpointSlice';
  /** `cluster/namespace/pod` → EndpointSlice */
  readonly slicesByPod: 'EndpointSlice';
  /** `cluster/namespace/ip` → EndpointSlice whose address has no pod reference */
  readonly slicesByIp: 'EndpointSlice';
  /** `cluster/ip` → Pod */
  readonly podsByIp: 'Pod';
  /** `cluster/node` → Pod */
  readonly podsByNode: 'Pod';
  /** `host` → ServiceEntry */
  readonly serviceEntriesByHost: 'ServiceEntry';
}
export type IndexName = keyof Indexes;
