// What every adapter is: something that watches one source and says facts. It knows nothing of the journal, of other adapters or of
// xDS; what is new and what is not is decided behind the sink, against what the journal already holds.

import type { Origin } from '../core/base/problem.ts';
import type { Fact, ObjectRef } from '../core/event.ts';
import type { KindName } from '../core/model/kind.ts';
import type { State } from '../core/state.ts';

export interface Sink {
  /** The facts of one change, recorded as one batch. Resolves when they are durable and folded; facts that say nothing new are dropped. */
  submit(batch: readonly Fact[]): Promise<void>;
  /**
   * Everything the source has, at start or after a gap. What the journal knows of this source and is not among `all` becomes a
   * Delete, except objects whose origin is a file or below a folder in `unreadable` (they stay as they were): what cannot be read
   * is never empty. Followed by a Synced fact.
   */
  relist(all: readonly Fact[], unreadable: readonly string[]): Promise<void>;
  /**
   * As `relist`, for all the source has of some kinds; objects of other kinds stay, and so do those of `kept`, which are there but cannot
   * be taken as they are. No Synced fact follows: a source that lists kind by kind submits it when every kind has been listed.
   */
  relistKinds(kinds: readonly KindName[], all: readonly Fact[], kept?: readonly ObjectRef[]): Promise<void>;
  /** True if the journal has this of the source. */
  holds(what: Held): boolean;
}

/** Objects from the file or from below the folder `path`, or a value of the mesh configuration. */
export type Held = { readonly path: string } | { readonly mesh: 'MeshConfig' | 'MeshNetworks' };

/** A part of a source that cannot be read (a folder, a kind of an API server): what is known of it stays. */
export interface Unreadable {
  readonly what: string;
  readonly why: string;
  /** Milliseconds since the epoch; counted from the start of the process at the earliest. */
  readonly since: number;
}

/** How a source is doing, for readiness and debug pages. */
export interface SourceStatus {
  /** Everything has been listed once since the start. */
  readonly synced: boolean;
  /** Kinds that have not been listed yet. Sorted. */
  readonly waiting: readonly string[];
  /** What is wrong right now, in words. Sorted. */
  readonly troubles: readonly string[];
  /** What cannot be read right now. Sorted by `what`. */
  readonly unreadable: readonly Unreadable[];
}

export interface Adapter {
  /** `<adapter>/<cluster>`, e.g. `file/Kubernetes`. */
  readonly source: string;
  /** Resolves when the source has been listed once. Later changes go to the sink until `stop`. */
  start(sink: Sink): Promise<void>;
  stop(): Promise<void>;
  status(): SourceStatus;
  /**
   * For a source that is asked, not listened to: what has to be asked for follows from the state. Called after each batch that was folded, so it
   * has to be cheap when nothing changed; such a source is started when the others can be relied upon.
   */
  onState?(state: State): void;
  /** It holds back the first readiness no longer than a remote cluster does (PILOT_REMOTE_CLUSTER_TIMEOUT). */
  readonly mayBeLate?: boolean;
  /** Where in the source paths inside objects stand, for messages, in the order of `places`; undefined where that cannot be said. */
  locate?(places: readonly ObjectPlace[]): Promise<readonly (Origin | undefined)[]>;
}

/** A path inside the object of that origin. */
export interface ObjectPlace {
  readonly origin: Origin;
  readonly path: string;
}

/** Reports of an adapter about itself (an unreadable directory, a slow scan): for the log, not for the journal. */
export type AdapterLog = (level: 'info' | 'warn' | 'error', message: string) => void;
