// Facts of streams on their way to the journal. While more streams come than are let in, facts wait a few milliseconds for those of the neighbours
// that were let in together, and share their commit: a commit costs more than the facts in it. Otherwise they go at once.
//
// Invariant: the host is given facts in the order in which they came here; subscription-facts.ts relies on it.

import type { Unrecorded } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import type { XdsHost } from './host.ts';

/** A proxy that connects waits for about nine commits, one after another; those behind it wait for seconds meanwhile. */
export const GATHER_MS = 40;

interface Waiting {
  readonly facts: readonly Unrecorded[];
  readonly resolve: (state: Promise<State>) => void;
}

export class GatheredFacts {
  readonly #host: Pick<XdsHost, 'clock' | 'record'>;
  readonly #busy: () => boolean;
  #waiting: Waiting[] = [];

  constructor(host: Pick<XdsHost, 'clock' | 'record'>, busy: () => boolean) {
    this.#host = host;
    this.#busy = busy;
  }

  /** As the host's. */
  record(facts: readonly Unrecorded[]): Promise<State> {
    if (this.#waiting.length === 0 && !this.#busy()) return this.#host.record(facts);
    return new Promise(resolve => {
      this.#waiting.push({ facts, resolve });
      if (this.#waiting.length === 1) this.#host.clock.after(GATHER_MS, () => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { facts, resolve } of waiting) resolve(this.#host.record(facts));
  }
}
