// ConfigStore: reads and writes the objects of a state with the interface of Istio's stores
// (pilot/pkg/model/config.go). A read looks into a state; a write returns facts for the caller to record, and the state
// after them shows their effect.
//
// So a write is a fact like any other: journalled, validated by the same code, replayed. Two writers of one state are
// kept apart by resourceVersion: that of the object as received, else the seq of the event that brought its accepted
// version.

import type { Either } from 'fp-ts/lib/Either.js';
import type { Json } from '../base/json.ts';
import type { Problem } from '../base/problem.ts';
import type { RawObject, Unrecorded } from '../event.ts';
import type { KindName } from '../model/kind.ts';
import type { Obj } from '../model/object.ts';

export type StoreError =
  | { readonly kind: 'NotFound' | 'AlreadyExists' | 'ReadOnly'; readonly object: string }
  /** Another writer was first: read again and decide again. */
  | { readonly kind: 'Conflict'; readonly object: string; readonly given: string; readonly current: string }
  | { readonly kind: 'Invalid'; readonly object: string; readonly problems: readonly Problem[] };

export interface StoreSchema {
  readonly kind: KindName;
  readonly group: string;
  /** Served versions, the storage version first. */
  readonly versions: readonly string[];
  readonly clusterScoped: boolean;
}

export interface Stored {
  /** As received, with `metadata.resourceVersion` filled in. */
  readonly object: RawObject;
  /** Decoded. */
  readonly obj: Obj;
  readonly resourceVersion: string;
  readonly source: string;
}

export interface ListOptions {
  /** All namespaces if absent. */
  readonly namespace?: string;
  /** Labels that an object must have. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Which object: `namespace` is empty for cluster-scoped kinds. */
export interface ObjectName {
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string;
}

export type Written = Either<StoreError, readonly Unrecorded[]>;

export interface ConfigStore {
  readonly schemas: readonly StoreSchema[];
  get(name: ObjectName): Stored | undefined;
  /** In the order of keys: namespace, then name. */
  list(kind: KindName, options?: ListOptions): readonly Stored[];

  create(object: RawObject): Written;
  /** Everything but the status. `metadata.resourceVersion`, if given, must be the current one. */
  update(object: RawObject): Written;
  /** The status alone. */
  updateStatus(object: RawObject): Written;
  /** A JSON merge patch (RFC 7386); a `metadata.resourceVersion` in it is a precondition. */
  patch(name: ObjectName, patch: Json): Written;
  /** `resourceVersion`, if given, must be the current one. */
  delete(name: ObjectName, resourceVersion?: string): Written;
}
