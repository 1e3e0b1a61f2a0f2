// Facts of streams on their way to the journal. While streams queue at the admission gate, facts wait GATHER_MS for
// those of the streams that were admitted together and share one commit with them, since a commit costs more than the
// facts in it. Otherwise they are recorded at once.
//
// Invariant: the host gets facts in the order in which they were given here; subscription-facts.ts relies on it.

import type { Unrecorded } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import type { XdsHost } from './host.ts';

/**
 * A connecting proxy needs about nine commits, one after another, so it waits about nine times this; the queue at the
 * gate waits for seconds.
 */
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

  /** As XdsHost.record. */
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
