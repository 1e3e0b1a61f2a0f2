// A config store whose writes are recorded: what a write comes to goes through the world like the facts of any source, journalled and folded, before
// it is said to have happened. Writes are done one after the other, each on the state that the one before left, so that of two with one
// resourceVersion the second is told of the conflict.

import { isLeft, right } from 'fp-ts/lib/Either.js';
import type { Unrecorded } from '../core/event.ts';
import { newsOf } from '../core/fold/novelty.ts';
import type { ConfigStore, Written } from '../core/stores/config-store.ts';
import { readOnly, sourceStore } from '../core/stores/state-store.ts';
import type { World } from './world.ts';

export class RecordedStore {
  readonly #world: Pick<World, 'state' | 'recordNews'>;
  readonly #source: string;
  #last: Promise<unknown> = Promise.resolve();

  /** `source`: whose objects these are, e.g. `store/Kubernetes`. Of equal keys in several sources, the one in force is that of the fixed precedence. */
  constructor(world: Pick<World, 'state' | 'recordNews'>, source: string) {
    this.#world = world;
    this.#source = source;
  }

  /** What was written here and is still there, for reading. */
  get store(): ConfigStore {
    return readOnly(sourceStore(this.#world.state, this.#source));
  }

  /**
   * Does what `change` asks of the store: `store => store.update(object)`. Resolves when it is recorded and folded, with the facts that were news, or
   * with why nothing was written. Rejects if the journal refuses the facts, or the control plane is stopping.
   */
  write(change: (store: ConfigStore) => Written): Promise<Written> {
    const written = this.#last.then(() => this.#record(change));
    this.#last = written.catch(() => undefined);
    return written;
  }

  async #record(change: (store: ConfigStore) => Written): Promise<Written> {
    let written: Written = right([]);
    await this.#world.recordNews(state => {
      written = change(sourceStore(state, this.#source));
      if (isLeft(written)) return [];
      const news = newsOf(state, this.#source, written.right);
      const facts = news.map((fact): Unrecorded => ({ ...fact, source: this.#source }));
      written = right(facts);
      return facts;
    });
    return written;
  }
}
