// A config store whose writes are recorded: the facts of a write go through the world like those of any source, and are
// journalled and folded before the write resolves. Writes run one after the other, each on the state that the one
// before left; of two with the same resourceVersion, the second gets a conflict.

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

  /**
   * `source`: e.g. `store/Kubernetes`. If several sources have an object of the same key, the fixed precedence decides
   * which is in force.
   */
  constructor(world: Pick<World, 'state' | 'recordNews'>, source: string) {
    this.#world = world;
    this.#source = source;
  }

  /** The objects of this store, read-only. */
  get store(): ConfigStore {
    return readOnly(sourceStore(this.#world.state, this.#source));
  }

  /**
   * Runs a change such as `store => store.update(object)`. Resolves after its facts are recorded and folded, with those
   * facts, or with the reason why nothing was written. Rejects if the journal refuses the facts or the control plane is
   * stopping.
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
