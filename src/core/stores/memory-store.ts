// A store that keeps its own state and folds each write at once: for tests, and for programs that embed Periplus
// without a journal. Everything else is as in a store over the state of a running control plane.

import { isLeft, right } from 'fp-ts/lib/Either.js';
import type { Json } from '../base/json.ts';
import type { RawObject, Unrecorded } from '../event.ts';
import { fold } from '../fold/fold-event.ts';
import type { KindName } from '../model/kind.ts';
import { emptyState, type State } from '../state.ts';
import type { ConfigStore, ListOptions, ObjectName, Stored, Written } from './config-store.ts';
import { sourceStore, storeSchemas } from './state-store.ts';

/** The time of unrecorded facts, as everywhere offline. */
const MEMORY_TIME = 0;
const noneRejected: ReadonlySet<number> = new Set();

export class MemoryStore implements ConfigStore {
  readonly schemas = storeSchemas;
  readonly #source: string;
  #state: State;

  constructor(source = 'memory/Kubernetes', state: State = emptyState) {
    this.#source = source;
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  get(name: ObjectName): Stored | undefined {
    return this.#store().get(name);
  }

  list(kind: KindName, options?: ListOptions): readonly Stored[] {
    return this.#store().list(kind, options);
  }

  create(object: RawObject): Written {
    return this.#apply(this.#store().create(object));
  }

  update(object: RawObject): Written {
    return this.#apply(this.#store().update(object));
  }

  updateStatus(object: RawObject): Written {
    return this.#apply(this.#store().updateStatus(object));
  }

  patch(name: ObjectName, patch: Json): Written {
    return this.#apply(this.#store().patch(name, patch));
  }

  delete(name: ObjectName, resourceVersion?: string): Written {
    return this.#apply(this.#store().delete(name, resourceVersion));
  }

  #store(): ConfigStore {
    return sourceStore(this.#state, this.#source);
  }

  /** Gives back the facts that were folded. */
  #apply(written: Written): Written {
    if (isLeft(written)) return written;
    this.#state = written.right.reduce(folded, this.#state);
    return right(written.right);
  }
}

function folded(state: State, fact: Unrecorded): State {
  return fold(state, { ...fact, seq: state.seq + 1, time: MEMORY_TIME }, noneRejected).state;
}
