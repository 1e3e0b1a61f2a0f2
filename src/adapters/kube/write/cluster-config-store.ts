// The interface of a store whose writes are requests to an API server: what embedding programs see of cluster-store.ts.

import type { Either } from 'fp-ts/lib/Either.js';
import type { Json } from '../../../core/base/json.ts';
import type { RawObject } from '../../../core/event.ts';
import type { State } from '../../../core/state.ts';
import type { ConfigStore, ObjectName, StoreError } from '../../../core/stores/config-store.ts';

/** The object as the server has it after the write; of a deletion nothing. */
export type ClusterWritten = Promise<Either<StoreError, RawObject | undefined>>;

/**
 * A store whose writes are requests to the API server of a cluster. What they did is seen in the state when the watch
 * has shown it. Methods reject if the server did not decide: no right, no connection, 5xx.
 */
export interface ClusterConfigStore {
  /** The objects as the watches have shown them, read-only. */
  observed(state: State): ConfigStore;
  /**
   * As the server has it now. An update is made of this one: the objects of a state lack what Periplus does not read.
   */
  get(name: ObjectName): Promise<Either<StoreError, RawObject>>;
  create(object: RawObject): ClusterWritten;
  /** Everything but the status. `metadata.resourceVersion`, if given, must be the current one. */
  update(object: RawObject): ClusterWritten;
  /** The status alone. */
  updateStatus(object: RawObject): ClusterWritten;
  /** A JSON merge patch (RFC 7386); a `metadata.resourceVersion` in it is a precondition. */
  patch(name: ObjectName, patch: Json): ClusterWritten;
  /** `resourceVersion`, if given, must be the current one. */
  delete(name: ObjectName, resourceVersion?: string): ClusterWritten;
}
