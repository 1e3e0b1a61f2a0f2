// The control plane as an embedding program sees it: the parts that are public API, and none of the machinery behind
// them. `startControlPlane` is the function behind `periplus serve`; only the type of its result is narrower here.

import type { KindName } from '../core/model/kind.ts';
import type { State } from '../core/state.ts';
import type { ConfigStore, Written } from '../core/stores/config-store.ts';
import type { Clock } from './clock.ts';
import type { ConfigEventHandler } from './config-store.ts';
import { startControlPlane as start } from './control-plane.ts';
import type { Log } from './log.ts';
import type { ServeOptions } from './serve-options.ts';

/** The objects in force, of all sources together. */
export interface EmbeddedConfig {
  /** Reads the objects in force; every write is refused. */
  readonly store: ConfigStore;
  /** The handler is called for each change of a kind, in the order of the journal, once `run` was called. */
  registerEventHandler(kind: KindName, handler: ConfigEventHandler): void;
  /** Calls the handlers for the objects in force now, then for every change. */
  run(): void;
  /** Whether the source has delivered its first complete list; without a name: every source. */
  hasSynced(source?: string): boolean;
}

/** Objects that the program itself writes: facts of the source `store/<cluster>`. */
export interface EmbeddedStore {
  /** Reads the program's own objects; every write goes through `write`. */
  readonly store: ConfigStore;
  /** `write(store => store.create(object))`. Resolves when the facts are recorded and folded, or with the refusal. */
  write(change: (store: ConfigStore) => Written): Promise<Written>;
}

export interface EmbeddedPlane {
  readonly ports: { readonly grpc: number; readonly http: number; readonly monitoring: number };
  readonly world: {
    /** The state now; immutable. */
    readonly state: State;
  };
  readonly config: EmbeddedConfig;
  readonly written: EmbeddedStore;
  /** Ends every stream, finishes writes under way, closes the journal. Idempotent. */
  stop(): Promise<void>;
}

/** Rejects if the journal, the configuration folder or an address is not available; nothing stays open then. */
export function startControlPlane(options: ServeOptions, clock: Clock, log: Log): Promise<EmbeddedPlane> {
  return start(options, clock, log);
}
