// The one writer: facts are appended, then folded, then their effects are handed on, in the order of the journal and never otherwise.
//
// When the journal cannot be written, serving goes on: a Gap fact and then whatever comes are folded provisionally and kept, and recorded
// in that order as soon as writing works again. Nobody else writes, so they get the very seqs that they were folded with: a receipt of
// the gap names a state that the journal has afterwards. With `strict` nothing moves until then.

import { assert } from '../core/base/assert.ts';
import type { Effect } from '../core/effect.ts';
import type { Event, Unrecorded } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { mergePushRequests, noPush, type PushRequest } from '../core/push-request.ts';
import type { State } from '../core/state.ts';
import { JournalFault } from '../journal/fault.ts';
import type { Journal } from '../journal/journal.ts';
import type { Clock } from './clock.ts';

/** Folding yields to the event loop after this many milliseconds. */
export const FOLD_SLICE_MS = 10;
/** Pieces of news looked at between two turns of the event loop: a few milliseconds. */
export const NEWS_SLICE = 1_000;
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
  /** Right after each event, in journal order; `before` differs from the last `after` when a gap in the journal was mended. */
  onEvent?(before: State, event: Event, after: State): void;
  /** After each batch, in journal order: the push requests of its events merged, and every other effect. `tookMs`: for folding it. */
  onFolded(state: State, request: PushRequest, effects: readonly Effect[], tookMs: number): void;
}

const noneRejected: ReadonlySet<number> = new Set();

/** Since the journal could not be written. */
interface Gap {
  /** The last state that the journal can give back. */
  readonly from: State;
  /** To be recorded: the Gap fact, then everything that was folded on top of `from`. */
  readonly unrecorded: Unrecorded[];
}

/** What is to be recorded at a state, piece by piece; undefined: something was looked at. Large lists are gone through in slices. */
export type News = (state: State) => Iterable<Unrecorded | undefined>;

interface Queued {
  readonly news: News;
  readonly resolve: (state: State) => void;
  readonly reject: (error: unknown) => void;
}

export class World {
  readonly #options: WorldOptions;
  readonly #listeners: WorldListener[] = [];
  #state: State;
  #gap: Gap | undefined;
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
    return this.#gap === undefined;
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
  recordNews(news: News): Promise<State> {
    if (this.#stopped) return Promise.reject(new Error('the control plane is stopping'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ news, resolve, reject });
      if (this.#queue.length === 1) this.#tail = this.#tail.then(() => this.#writeQueued());
    });
  }

  /** Waits for what is under way, and tries once more to record what could not be. Later facts are refused. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#tail;
    await this.#recover();
    const lost = this.#gap?.unrecorded.length ?? 0;
    if (lost > 0)
      this.#options.log('error', `${lost - 1} facts are lost: they were acted on and could not be recorded`);
  }

  /** Nothing is folded meanwhile. */
  async #asked(news: News): Promise<readonly Unrecorded[]> {
    const facts: Unrecorded[] = [];
    let taken = 0;
    for (const fact of news(this.#state)) {
      if (fact !== undefined) facts.push(fact);
      if (++taken % NEWS_SLICE === 0) await new Promise<void>(resolve => setImmediate(resolve));
    }
    return facts;
  }

  async #writeQueued(): Promise<void> {
    const queue = this.#queue;
    this.#queue = [];
    const writing: { readonly queued: Queued; readonly facts: readonly Unrecorded[] }[] = [];
    for (const queued of queue) {
      try {
        writing.push({ queued, facts: await this.#asked(queued.news) });
      } catch (error) {
        queued.reject(error);
      }
    }
    try {
      await this.#write(writing.flatMap(({ facts }) => facts));
      for (const { queued } of writing) queued.resolve(this.#state);
    } catch (error) {
      if (isFault(error, 'unfit-fact') && writing.length > 1) return this.#writeEach(writing);
      for (const { queued } of writing) queued.reject(error);
    }
  }

  /** Nothing of a batch is stored if one fact of it is unfit: whoever gave that one hears of it, and nobody else. */
  async #writeEach(writing: readonly { readonly queued: Queued; readonly facts: readonly Unrecorded[] }[]) {
    for (const { queued, facts } of writing) {
      try {
        await this.#write(facts);
        queued.resolve(this.#state);
      } catch (error) {
        queued.reject(error);
      }
    }
  }

  async #write(facts: readonly Unrecorded[]): Promise<void> {
    if (facts.length === 0) return undefined;
    for (;;) {
      if (this.#gap === undefined) {
        const events = await this.#append(facts);
        if (events !== undefined) return this.#foldAll(events);
      }
      if (this.#stopped) throw new Error('the control plane is stopping');
      const gap = this.#gap;
      if (gap !== undefined && !this.#options.strict && gap.unrecorded.length + facts.length <= UNRECORDED_MAX) {
        const stored = this.#options.journal.asStored(facts);
        gap.unrecorded.push(...stored);
        return this.#foldAll(this.#provisional(stored));
      }
      await new Promise<void>(resolve => this.#options.clock.after(RETRY_MS, resolve));
      await this.#recover();
    }
  }

  /** Undefined: the journal cannot be written. */
  async #append(facts: readonly Unrecorded[]): Promise<readonly Event[] | undefined> {
    try {
      return await this.#options.journal.append(facts);
    } catch (error) {
      if (!isFault(error, 'write-failed')) throw error;
      this.#lostTouch(error.message);
      return undefined;
    }
  }

  #lostTouch(message: string): void {
    const { strict, journal, clock, log } = this.#options;
    const how = strict ? 'nothing moves until it can' : 'serving goes on without a record';
    log('error', `the journal cannot be written (${message}); ${how}`);
    const gap: Unrecorded = {
      source: 'runtime',
      kind: 'Gap',
      reason: 'the journal could not be written',
      since: clock.now(),
      lost: 0,
    };
    this.#gap = { from: this.#state, unrecorded: [...journal.asStored([gap])] };
    if (!strict) this.#state = fold(this.#state, this.#provisional([gap])[0]!, noneRejected).state;
    this.#tryLater();
  }

  #tryLater(): void {
    this.#options.clock.after(RETRY_MS, () => {
      this.#tail = this.#tail.then(async () => {
        if (!this.#stopped) await this.#recover();
        if (this.#gap !== undefined && !this.#stopped) this.#tryLater();
      });
    });
  }

  async #recover(): Promise<void> {
    const gap = this.#gap;
    if (gap === undefined) return;
    const { journal, log } = this.#options;
    let events: readonly Event[];
    try {
      // Should the failed commit have taken effect after all, the seqs would be others than those that receipts name.
      assert(journal.head().seq === gap.from.seq, 'the journal holds events that it said it had not written');
      events = await journal.append(gap.unrecorded);
    } catch (error) {
      return log('error', `the journal still cannot be written (${error instanceof Error ? error.message : error})`);
    }
    this.#gap = undefined;
    await this.#foldLate(gap.from, events);
    log('info', `the journal can be written again; ${events.length - 1} facts were recorded late`);
  }

  /** The same events again, with the times they were recorded at. Their effects have been handed on. */
  async #foldLate(from: State, events: readonly Event[]): Promise<void> {
    const rejected = new Set(events.flatMap(event => (event.kind === 'Rejected' ? [event.rejected] : [])));
    const { state, failures } = await this.#foldFrom(from, events, rejected);
    this.#state = state;
    for (const listener of this.#listeners) listener.onFolded(state, noPush, [], 0);
    await this.#write(failures);
  }

  /** Events that only this process knows, numbered on from the state. */
  #provisional(facts: readonly Unrecorded[]): readonly Event[] {
    const time = Math.max(this.#state.time, this.#options.clock.now());
    return facts.map((fact, i) => ({ ...fact, seq: this.#state.seq + 1 + i, time }));
  }

  async #foldAll(events: readonly Event[]): Promise<void> {
    const { clock } = this.#options;
    const since = clock.now();
    const { state, request, effects, failures } = await this.#foldFrom(this.#state, events, noneRejected);
    this.#state = state;
    const tookMs = clock.now() - since;
    for (const listener of this.#listeners) listener.onFolded(state, request, effects, tookMs);
    await this.#write(failures);
  }

  async #foldFrom(from: State, events: readonly Event[], rejected: ReadonlySet<number>) {
    const effects: Effect[] = [];
    let request = noPush;
    let state = from;
    const failures: Unrecorded[] = [];
    let sliceEnd = this.#options.clock.now() + FOLD_SLICE_MS;
    for (const event of events) {
      // What a change pushes need not be found out while there is nobody to be pushed to: one that connects sees the newest state.
      const folded = fold(state, event, rejected, state.proxies.size > 0);
      for (const listener of this.#listeners) listener.onEvent?.(state, event, folded.state);
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
    return { state, request, effects, failures };
  }

  #rejection(event: Event, reason: string): Unrecorded {
    this.#options.log('error', `event ${event.seq} (${event.kind}) could not be folded and is skipped: ${reason}`);
    return { source: 'runtime', kind: 'Rejected', rejected: event.seq, reason };
  }
}

function isFault(error: unknown, code: JournalFault['code']): error is JournalFault {
  return error instanceof JournalFault && error.code === code;
}
