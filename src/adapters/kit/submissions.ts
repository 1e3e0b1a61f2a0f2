// Submits the batches of an adapter to its sink, one after the other. The first list precedes all batches; a batch that
// arrives during the list waits for it. Batches before the start or after the stop are dropped. A batch that the sink
// refuses is logged and does not hold up the next one.

import type { Fact } from '../../core/event.ts';
import type { AdapterLog, Sink } from '../adapter.ts';

export class Submissions {
  readonly #subject: string;
  readonly #log: AdapterLog;
  #sink: Sink | undefined;
  #listed = false;
  #tail: Promise<void> = Promise.resolve();

  /** `subject` begins the log line about a batch that was refused. */
  constructor(subject: string, log: AdapterLog) {
    this.#subject = subject;
    this.#log = log;
  }

  /** The sink has the first list. */
  get isListed(): boolean {
    return this.#listed;
  }

  /** Rejects as `list` does. */
  async open(sink: Sink, list: (sink: Sink) => Promise<void>): Promise<void> {
    this.#sink = sink;
    const listing = this.#tail.then(() => list(sink));
    this.#tail = listing.catch(() => undefined);
    await listing;
    this.#listed = true;
  }

  submit(facts: readonly Fact[]): void {
    if (facts.length > 0) this.run(sink => sink.submit(facts));
  }

  /** Calls `say` with the sink in turn, for a list or a Synced fact. */
  run(say: (sink: Sink) => Promise<void>): void {
    if (this.#sink === undefined) return;
    this.#tail = this.#tail
      .then(async () => {
        if (this.#sink !== undefined) await say(this.#sink);
      })
      .catch((error: unknown) => {
        this.#log('warn', `${this.#subject} could not be recorded (${error instanceof Error ? error.message : error})`);
      });
  }

  /** Resolves when nothing is under way; nothing is submitted afterwards. */
  async close(): Promise<void> {
    this.#sink = undefined;
    await this.#tail;
  }
}
