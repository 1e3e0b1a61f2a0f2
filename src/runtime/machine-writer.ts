// Writes the WorkloadEntries of machines that are connected to a replica which does not lead. Every process writes
// those of its own machines, as every istiod does: the annotation istio.io/workloadController says whose they are, and
// no lock is needed (core/wishes/registrations.ts). A replica that leads writes them with all other wishes.
//
// What the replica registered is in its own log, and the WorkloadEntry reaches every replica as the leader's watch
// shows it. Invariants: the API server is connected to only once a machine has registered; nothing that the watch of
// WorkloadEntries shows here is recorded; one connection at a time, and none while this replica leads.

import type { Adapter, Sink } from '../adapters/adapter.ts';
import { backoffMs } from '../adapters/kit/backoff.ts';
import type { State } from '../core/state.ts';
import type { Clock, Timer } from './clock.ts';
import type { Log } from './log.ts';

export interface MachineConnection {
  /** Lists and watches WorkloadEntries. */
  readonly watch: Pick<Adapter, 'start' | 'stop'>;
  readonly writer: Pick<Adapter, 'onState' | 'start' | 'stop'>;
  close(): void;
}

export interface MachineWriterOptions {
  readonly connect: () => Promise<MachineConnection>;
  readonly after: Clock['after'];
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

interface Attempt {
  isEnded: boolean;
  isWriting: boolean;
  connection?: MachineConnection;
}

/** Wait before a connection that failed is made anew. */
const RETRY = { minMs: 2_000, maxMs: 60_000 };

/** What the leader records is recorded once. */
const UNRECORDED: Sink = {
  submit: () => Promise.resolve(),
  relist: () => Promise.resolve(),
  relistKinds: () => Promise.resolve(),
  holds: () => false,
};

export class MachineWriter {
  readonly #options: MachineWriterOptions;
  #state: State | undefined;
  #leads = false;
  #isStopped = false;
  #attempt: Attempt | undefined;
  #failures = 0;
  /** Until the next attempt. */
  #retry: Timer | undefined;
  /** Ends follow one another. */
  #ending: Promise<void> = Promise.resolve();

  /** Begins as a replica that follows. */
  constructor(options: MachineWriterOptions) {
    this.#options = options;
  }

  /** After each batch that was folded. */
  onState(state: State): void {
    this.#state = state;
    if (this.#attempt?.isWriting === true) this.#attempt.connection?.writer.onState?.(state);
    this.#consider();
  }

  turn(leads: boolean): void {
    this.#leads = leads;
    if (leads) this.#end();
    else this.#consider();
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#end();
    await this.#ending;
  }

  #consider(): void {
    if (this.#leads || this.#isStopped || this.#attempt !== undefined || this.#retry !== undefined) return;
    if (this.#state === undefined || this.#state.objects.WorkloadRegistration.size === 0) return;
    const attempt: Attempt = { isEnded: false, isWriting: false };
    this.#attempt = attempt;
    void this.#run(attempt).catch((error: unknown) => {
      if (attempt.isEnded) return;
      const why = error instanceof Error ? error.message : String(error);
      this.#options.log('error', `WorkloadEntries of machines are not written by this replica: ${why}`);
      this.#end();
      this.#failures += 1;
      this.#retry = this.#options.after(backoffMs(this.#failures, this.#options.random(), RETRY), () => {
        this.#retry = undefined;
        this.#consider();
      });
    });
  }

  async #run(attempt: Attempt): Promise<void> {
    await this.#ending;
    if (attempt.isEnded) return;
    const connection = await this.#options.connect();
    attempt.connection = connection;
    if (attempt.isEnded) return this.#close(attempt);
    await connection.watch.start(UNRECORDED);
    if (attempt.isEnded) return;
    attempt.isWriting = true;
    if (this.#state !== undefined) connection.writer.onState?.(this.#state);
    await connection.writer.start(UNRECORDED);
    this.#failures = 0;
  }

  #end(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    const attempt = this.#attempt;
    if (attempt === undefined) return;
    this.#attempt = undefined;
    attempt.isEnded = true;
    this.#ending = this.#ending
      .then(() => this.#close(attempt))
      .catch((error: unknown) => this.#options.log('warn', `WorkloadEntries of machines: ${String(error)}`));
  }

  async #close({ connection, isWriting }: Attempt): Promise<void> {
    if (isWriting) await connection?.writer.stop();
    await connection?.watch.stop();
    connection?.close();
  }
}
