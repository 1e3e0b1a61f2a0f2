// The configuration that this process injects with. A ConfigMap that cannot be read, or that is deleted, changes
// nothing: the last one that could be read stays until there is another, or until the process ends. The templates of
// this project are used only where no ConfigMap was seen.
//
// Source: Istio pkg/kube/inject/watcher.go (NewConfigMapWatcher): istiod keeps what it has in both cases.

import { type Either, isLeft } from 'fp-ts/lib/Either.js';
import { Tracker } from '../../core/query/tracker.ts';
import type { State } from '../../core/state.ts';
import { type InjectorSetup, injectorSetup, missingInjector } from './setup.ts';

type Log = (level: 'error', message: string) => void;

export class InjectorInForce {
  readonly #tracker = new Tracker();
  readonly #log: Log;
  #lastGood: Either<string, InjectorSetup> | undefined;
  /** True: the last good one is that of a ConfigMap. */
  #isOfUser = false;
  #complaint = '';

  constructor(log: Log) {
    this.#log = log;
  }

  /** Call it with every state, so that each ConfigMap is seen. Left: none could be read so far, and why. */
  setup(state: State): Either<string, InjectorSetup> {
    const found = this.#tracker.get(state, undefined, injectorSetup, '');
    const missing = this.#tracker.get(state, undefined, missingInjector, '');
    const isGone = missing !== undefined && this.#isOfUser;
    if (isGone) this.#complain(`ConfigMap ${missing} is gone; without another one the next start has other templates`);
    else if (isLeft(found)) this.#complain(found.left);
    else {
      this.#complaint = '';
      this.#lastGood = found;
      this.#isOfUser = missing === undefined;
    }
    return this.#lastGood ?? found;
  }

  #complain(why: string): void {
    if (why !== this.#complaint) this.#log('error', `the injector's configuration stays as it was: ${why}`);
    this.#complaint = why;
  }
}
