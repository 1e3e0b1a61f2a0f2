// The contract of adapters. An adapter watches one source and submits facts. It knows nothing of the journal, of other
// adapters or of xDS. Behind its sink, facts are compared with what the journal has of the source, and only those that
// change something are recorded; so an adapter may submit what it has submitted before.

import type { Origin } from '../core/base/problem.ts';
import type { Fact, ObjectRef } from '../core/event.ts';
import type { KindName } from '../core/model/kind.ts';
import type { State } from '../core/state.ts';

export interface Sink {
  /**
   * The facts of one change, recorded as one batch. Resolves when they are durable and folded; facts that change
   * nothing are dropped.
   */
  submit(batch: readonly Fact[]): Promise<void>;
  /**
   * The complete list of the source, at the start or after a gap. An object of this source in the journal that is not
   * in `all` becomes a Delete, unless it came from a file in `unreadable` or below a folder there: an unreadable part
   * never counts as empty. A Synced fact follows.
   */
  relist(all: readonly Fact[], unreadable: readonly string[]): Promise<void>;
  /**
   * As `relist`, for some kinds of the source. Objects of other kinds stay, and so do those in `kept`, which exist but
   * cannot be read now. No Synced fact follows: a source that lists kind by kind submits it after the last kind.
   */
  relistKinds(kinds: readonly KindName[], all: readonly Fact[], kept?: readonly ObjectRef[]): Promise<void>;
  /** True if the journal has something of that part of the source. */
  holds(part: SourcePart): boolean;
}

/**
 * True if a sink refused a fact for what it is, so that a second attempt changes nothing: `unfit-fact` of the journal,
 * or a RangeError of a fact beyond the stack. Any other refusal is one of this moment: the same fact may come again.
 */
export function isUnfit(error: unknown): boolean {
  if (error instanceof RangeError) return true;
  return error instanceof Error && 'code' in error && error.code === 'unfit-fact';
}

/** The objects from the file `path` or from below the folder `path`, or a value of the mesh configuration. */
export type SourcePart = { readonly path: string } | { readonly mesh: 'MeshConfig' | 'MeshNetworks' };

/** A part of a source that cannot be read (a folder, a kind of an API server): its objects stay as they are. */
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
  /** Present problems, in words. Sorted. */
  readonly troubles: readonly string[];
  /** Parts that cannot be read now. Sorted by `what`. */
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
   * For a source whose questions follow from the state (DNS names, key sets). Called after each batch that is folded,
   * so it has to be cheap when nothing changed. Such a source is started when the sources without `onState` are ready.
   */
  onState?(state: State): void;
  /** It delays readiness and writers no longer than a remote cluster does (PILOT_REMOTE_CLUSTER_TIMEOUT). */
  readonly mayBeLate?: boolean;
  /** What the journal has of it serves writers, too, after the same time; without a record they wait. */
  readonly mayBeOld?: boolean;
  /**
   * It writes to the outside what follows from all sources, so it is started only once each of them has been listed in
   * this process: what the journal says of a source that cannot be looked at may be old. For one that may be late it
   * waits as readiness does.
   */
  readonly startsAfterLists?: boolean;
  /** The origins of paths inside objects, for messages, in the order of `places`; undefined: unknown. */
  locate?(places: readonly ObjectPlace[]): Promise<readonly (Origin | undefined)[]>;
}

/** A path inside the object of that origin. */
export interface ObjectPlace {
  readonly origin: Origin;
  readonly path: string;
}

/** Reports of an adapter about itself (an unreadable directory, a slow scan): for the log, not for the journal. */
export type AdapterLog = (level: 'info' | 'warn' | 'error', message: string) => void;
