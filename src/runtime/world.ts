// The one writer: facts are appended, then folded, then their effects are handed on, in the order of the journal and never otherwise.
//
// When the journal cannot be written, serving goes on: facts are folded provisionally from the last durable state and kept; as soon as
// writing works again a Gap fact and all of them are recorded, and the state is folded anew from there. With `strict` nothing moves until then.

import type { Effect } from '../core/effect.ts';
import type { Event, Fact, Unrecorded } from '../core/event.ts';
import { fold } from '../core/fold.ts';
import { mergePushRequests, noPush, type PushRequest } from '../core/push-request.ts';
import type { State } from '../core/state.ts';
import { JournalFault } from '../journal/fault.ts';
import type { Journal } from '../journal/journal.ts';
import type { Clock } from './clock.ts';

/** Folding yields to the event loop after this many milliseconds. */
export const FOLD_SLICE_MS = 10;
/** Facts kept while the journal cannot be written; past that everything waits, as with `strict`. */
export const UNRECORDED_MAX = 50_000;
/** How long to wait before writing is tried again. */
export const RETRY_MS = 1_000;

export interface WorldOptions {
  readonly journal: Journal;
  readonly state: State;
  readonly clock: Clock;
  readonly strict: boolean;
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void;
}

export interface WorldListener {
  /** After each batch, in journal order: the push requests of its events merged, and every other effect. */
  onFolded(state: State, request: PushRequest, effects: readonly Effect[]): void;
}

const noneRejected: ReadonlySet<number> = new Set();

interface Queued {
  readonly news: (state: State) => readonly Unrecorded[];
  readonly resolve: (state: State) => void;
  readonly reject: (error: unknown) => void;
}

export class World {
  readonly #options: WorldOptions;
  readonly #listeners: WorldListener[] = [];
  #state: State;
  /** The last state that the journal can give back, while writing fails. */
  #durable: State | undefined;
  #unrecorded: Unrecorded[] = [];
  #since = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #queue: Queued[] = [];
  #stopped = false;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#state = options.state;
  }

  get state(): State {
    return this.#state;
  }

  /** False while the journal cannot be written. */
  get durable(): boolean {
    return this.#durable === undefined;
  }

  listen(listener: WorldListener): void {
    this.#listeners.push(listener);
  }

  /** Resolves when the facts are recorded (or kept, see above) and folded; gives the state right after them. */
  record(facts: readonly Unrecorded[]): Promise<State> {
    return this.recordNews(() => facts);
  }

  /**
   * As `record`, for facts that depend on the state: `news` is asked when everything recorded before has been folded. Calls that wait at
   * the same time share one commit, so a caller whose `news` reads what another one writes must await that one first.
   */
  recordNews(news: (state: State) => readonly Unrecorded[]): Promise<State> {
    if (this.#stopped) return Promise.reject(new Error('the control plane is stopping'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ news, resolve, reject });
      if (this.#queue.length === 1) this.#tail = this.#tail.then(() => this.#writeQueued());
    });
  }

  /** Waits for what is under way. Later facts are refused. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#tail;
  }

  async #writeQueued(): Promise<void> {
    const queue = this.#queue;
    this.#queue = [];
    try {
      const facts = queue.flatMap(({ news }) => news(this.#state));
      if (facts.length > 0) await this.#write(facts);
      for (const { resolve } of queue) resolve(this.#state);
    } catch (error) {
      for (const { reject } of queue) reject(error);
    }
  }

  async #write(facts: readonly Unrecorded[]): Promise<void> {
    for (;;) {
      if (this.#durable === undefined) {
        try {
          return await this.#foldAll(await this.#options.journal.append(facts));
        } catch (error) {
          if (!(error instanceof JournalFault) || error.code !== 'write-failed') throw error;
          this.#lostTouch(error.message);
        }
      }
      if (this.#stopped) throw new Error('the control plane is stopping');
      if (!this.#options.strict && this.#unrecorded.length + facts.length <= UNRECORDED_MAX) {
        this.#unrecorded.push(...facts);
        return this.#foldAll(this.#provisional(facts));
      }
      await new Promise<void>(resolve => this.#options.clock.after(RETRY_MS, resolve));
    }
  }

  #lostTouch(message: string): void {
    this.#durable = this.#state;
    this.#since = this.#options.clock.now();
    const how = this.#options.strict ? 'nothing moves until it can' : 'serving goes on without a record';
    this.#options.log('error', `the journal cannot be written (${message}); ${how}`);
    this.#options.clock.after(RETRY_MS, () => this.#recover());
  }

  #recover(): void {
    this.#tail = this.#tail.then(async () => {
      const from = this.#durable;
      if (from === undefined || this.#stopped) return;
      const gap: Fact = { kind: 'Gap', reason: 'the journal could not be written', since: this.#since, lost: 0 };
      try {
        const events = await this.#options.journal.append([{ source: 'runtime', ...gap }, ...this.#unrecorded]);
        this.#state = from;
        this.#durable = undefined;
        this.#unrecorded = [];
        await this.#foldAll(events);
        this.#options.log('info', `the journal can be written again; ${events.length - 1} facts were recorded late`);
      } catch (error) {
        this.#options.log('error', `the journal still cannot be written (${String(error)})`);
        this.#options.clock.after(RETRY_MS, () => this.#recover());
      }
    });
  }

  /** Events that only this process knows, numbered on from the state. */
  #provisional(facts: readonly Unrecorded[]): readonly Event[] {
    const time = Math.max(this.#state.time, this.#options.clock.now());
    return facts.map((fact, i) => ({ ...fact, seq: this.#state.seq + 1 + i, time }));
  }

  async #foldAll(events: readonly Event[]): Promise<void> {
    const effects: Effect[] = [];
    let request = noPush;
    let state = this.#state;
    const failures: Unrecorded[] = [];
    let sliceEnd = this.#options.clock.now() + FOLD_SLICE_MS;
    for (const event of events) {
      const folded = fold(state, event, noneRejected);
      state = folded.state;
      if (folded.failure !== undefined) failures.push(this.#rejection(event, folded.failure));
      for (const effect of folded.effects) {
        if (effect.kind === 'Push') request = mergePushRequests(request, effect.request);
        else effects.push(effect);
      }
      if (this.#options.clock.now() >= sliceEnd) {
        await new Promise<void>(resolve => setImmediate(resolve));
        sliceEnd = this.#options.clock.now() + FOLD_SLICE_MS;
      }
    }
    this.#state = state;
    for (const listener of this.#listeners) listener.onFolded(this.#state, request, effects);
    if (failures.length > 0) await this.#write(failures);
  }

  #rejection(event: Event, reason: string): Unrecorded {
    this.#options.log('error', `event ${event.seq} (${event.kind}) could not be folded and is skipped: ${reason}`);
    return { source: 'runtime', kind: 'Rejected', rejected: event.seq, reason };
  }
}
