// The only writer of the journal: appends facts, folds them, hands on their effects, in this order and in journal
// order.
//
// If the journal cannot be written, serving continues: a Gap fact and all further facts are folded provisionally, kept,
// and recorded in the same order once writing works again. Invariant: they then get the seqs that they were folded
// with, because nothing else writes, so a receipt from the gap names a state that the journal has. With `strict`
// nothing is folded until the journal can be written.
//
// Everything that writes or folds runs on `#tail`, one after another, and `state` changes once for each batch: it is
// never seen in the middle of one, nor of a gap that is folded again. What is being restored (`recordCarried`) is in
// the journal and not yet in `state`, so everything else ends that first (`#endRestoring`).

import { append } from '../core/base/append.ts';
import { assert } from '../core/base/assert.ts';
import type { Event, Unrecorded } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { noPush } from '../core/push-request.ts';
import type { State } from '../core/state.ts';
import { JournalFault } from '../journal/fault.ts';
import type { Carried, Journal } from '../journal/journal.ts';
import { rejectedIn } from '../offline/load-state.ts';
import type { Clock } from './clock.ts';
import { type FoldedBatch, foldBatch, type WorldListener } from './fold-batch.ts';
import { collectFacts, type News } from './news.ts';
import { Progress } from './progress.ts';
import { RestoringBehind } from './restoring-behind.ts';

/** Most facts that are kept while the journal cannot be written; past that, recording waits as with `strict`. */
export const UNRECORDED_MAX = 50_000;
/** Fewer carried facts are folded one by one: restoring makes whole tables anew. */
export const RESTORED_MIN = 1_000;
/** Interval of attempts to write the journal again. */
export const RETRY_MS = 1_000;

export interface WorldOptions {
  readonly journal: Journal;
  readonly state: State;
  readonly clock: Clock;
  readonly strict: boolean;
  /** Takes what cannot be recorded at the end; resolves with the place where it is. */
  readonly spill?: (facts: readonly Unrecorded[]) => Promise<string>;
  /** Default: RESTORED_MIN. */
  readonly restoredMin?: number;
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void;
}

const noneRejected: ReadonlySet<number> = new Set();

/** Exists while the journal cannot be written. */
interface Gap {
  /** The last state that the journal can reproduce. */
  readonly from: State;
  /** To be recorded later: the Gap fact, then all facts folded on top of `from`. */
  readonly unrecorded: Unrecorded[];
}

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
  /** Holds what is in the journal and not yet in `#state`. */
  #restoring: RestoringBehind | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #queue: Queued[] = [];
  #stopped = false;
  readonly #progress: Progress;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.#progress = new Progress(options.clock);
    this.#state = options.state;
  }

  get state(): State {
    return this.#state;
  }

  /** False while the journal cannot be written. */
  get durable(): boolean {
    return this.#gap === undefined;
  }

  /** How long facts have been waiting without any progress; 0: they are not. */
  get stuckMs(): number {
    return this.#progress.stuckMs;
  }

  listen(listener: WorldListener): void {
    this.#listeners.push(listener);
  }

  /** Resolves with the state after the facts, once they are recorded (or kept in a gap) and folded. */
  record(facts: readonly Unrecorded[]): Promise<State> {
    return this.recordNews(() => facts);
  }

  /**
   * As `record`, for facts that depend on the state: `news` runs after everything recorded before is folded. Concurrent
   * calls share one commit (group commit), so a caller whose `news` reads what another call writes has to await that
   * call first.
   */
  recordNews(news: News): Promise<State> {
    if (this.#stopped) return Promise.reject(new Error('the control plane is stopping'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ news, resolve, reject });
      if (this.#queue.length === 1) this.#tail = this.#tail.then(() => this.#progress.of(() => this.#writeQueued()));
    });
  }

  /**
   * As `record`, for facts of another journal, which keep their times. `toCome`: facts that will follow soon. While
   * many come and no proxy is connected, they are folded at once (core/fold/restore.ts), and the state with which this
   * resolves has them only after the last one, or once something else is recorded.
   */
  recordCarried(facts: readonly Carried[], toCome: number): Promise<State> {
    if (this.#stopped) return Promise.reject(new Error('the control plane is stopping'));
    const written = this.#tail.then(() => this.#writeCarried(facts, toCome));
    this.#tail = written.catch(() => undefined);
    return written.then(() => this.#state);
  }

  /**
   * Goes on from another state at an event of the journal, with the events after it: what was in memory is not trusted.
   * For a world that the journal has all of, and that no proxy is served from.
   */
  goOnFrom(state: State): Promise<State> {
    const done = this.#tail.then(async () => {
      await this.#endRestoring();
      assert(this.#gap === undefined, 'the journal does not have what was folded');
      this.#state = state;
      await this.#foldFromJournal();
    });
    this.#tail = done.catch(() => undefined);
    return done.then(() => this.#state);
  }

  /** Waits for pending writes and tries once more to record a gap. Later facts are refused. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#tail;
    await this.#endRestoring();
    await this.#recover();
    if (this.#gap !== undefined) await this.#spill(this.#gap.unrecorded);
  }

  async #spill(facts: readonly Unrecorded[]): Promise<void> {
    const { spill, log } = this.#options;
    const count = facts.length - 1;
    try {
      const path = await spill?.(facts);
      if (path !== undefined) return log('warn', `${count} facts that could not be recorded are in ${path}`);
    } catch (error) {
      log('error', `--journal-spill: ${error instanceof Error ? error.message : String(error)}`);
    }
    return log('error', `${count} facts are lost: they were served but could not be recorded`);
  }

  async #writeQueued(): Promise<void> {
    const queue = this.#queue;
    this.#queue = [];
    await this.#endRestoring();
    const writing: { readonly queued: Queued; readonly facts: readonly Unrecorded[] }[] = [];
    for (const queued of queue) {
      try {
        writing.push({
          queued,
          facts: await collectFacts(queued.news, this.#state, this.#progress, this.#options.clock),
        });
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

  /**
   * One unfit fact makes the journal refuse the whole batch: write each call's facts alone, so that only its caller
   * gets the error.
   */
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
        const events = await this.#append(() => this.#options.journal.append(facts));
        if (events !== undefined) return this.#foldAll(events);
      }
      if (this.#stopped) throw new Error('the control plane is stopping');
      const gap = this.#gap;
      if (gap !== undefined && !this.#options.strict && gap.unrecorded.length + facts.length <= UNRECORDED_MAX) {
        const stored = this.#options.journal.asStored(facts);
        append(gap.unrecorded, stored);
        return this.#foldAll(this.#provisional(stored));
      }
      await new Promise<void>(resolve => this.#options.clock.after(RETRY_MS, resolve));
      this.#progress.step();
      await this.#recover();
    }
  }

  async #writeCarried(facts: readonly Carried[], toCome: number): Promise<void> {
    const { journal, restoredMin = RESTORED_MIN } = this.#options;
    const isMuch = this.#restoring !== undefined || facts.length + toCome >= restoredMin;
    if (this.#gap === undefined && this.#state.proxies.size === 0 && isMuch) {
      const [events] = await Promise.all([this.#append(() => journal.appendCarried(facts)), this.#restoreMeanwhile()]);
      if (events !== undefined) {
        this.#restoring ??= new RestoringBehind(this.#state);
        this.#restoring.add(events);
        return toCome === 0 ? this.#endRestoring() : undefined;
      }
    }
    await this.#endRestoring();
    if (facts.length === 0) return undefined;
    // Parsed before they are stored: a fact that cannot be read must be refused.
    const given = facts.map(({ fact }) => fact);
    const events = this.#gap === undefined ? await this.#append(() => journal.appendCarried(facts)) : undefined;
    if (events === undefined) return this.#write(given);
    return this.#foldAll(events.map(({ seq, time }, i) => ({ ...given[i]!, seq, time })));
  }

  /** Folds the group before, once the writer has its request. */
  async #restoreMeanwhile(): Promise<void> {
    if (this.#restoring === undefined) return;
    await this.#progress.pause();
    this.#restoring?.catchUp();
  }

  async #endRestoring(): Promise<void> {
    const restoring = this.#restoring;
    if (restoring === undefined) return undefined;
    this.#restoring = undefined;
    const since = this.#options.clock.now();
    const state = restoring.finish();
    if (state === undefined) return this.#foldFromJournal();
    this.#state = state;
    const tookMs = this.#options.clock.now() - since;
    for (const listener of this.#listeners) listener.onFolded(this.#state, noPush, [], tookMs);
    return undefined;
  }

  /** One by one, to find the event that cannot be folded. */
  async #foldFromJournal(): Promise<void> {
    this.#restoring = undefined;
    const { journal } = this.#options;
    const failures: Unrecorded[] = [];
    const from = this.#state.seq + 1;
    const rejected = await rejectedIn(journal, from);
    for await (const events of journal.read({ from })) {
      const folded = await this.#foldFrom(this.#state, events, rejected);
      this.#state = folded.state;
      append(failures, folded.failures);
    }
    for (const listener of this.#listeners) listener.onFolded(this.#state, noPush, [], 0);
    await this.#write(failures);
  }

  /** Undefined: the journal cannot be written. */
  async #append<E>(append: () => Promise<E>): Promise<E | undefined> {
    try {
      return await append();
    } catch (error) {
      if (!isFault(error, 'write-failed')) throw error;
      await this.#endRestoring();
      this.#openGap(error.message);
      return undefined;
    }
  }

  #openGap(message: string): void {
    const { strict, journal, clock, log } = this.#options;
    const how = strict ? 'recording and pushes stop until it can' : 'serving continues without a record';
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
    this.#scheduleRecovery();
  }

  #scheduleRecovery(): void {
    this.#options.clock.after(RETRY_MS, () => {
      this.#tail = this.#tail.then(async () => {
        if (!this.#stopped) await this.#recover();
        if (this.#gap !== undefined && !this.#stopped) this.#scheduleRecovery();
      });
    });
  }

  async #recover(): Promise<void> {
    const gap = this.#gap;
    if (gap === undefined) return;
    const { journal, log } = this.#options;
    let events: readonly Event[];
    try {
      // If the failed commit had taken effect after all, the seqs would differ from those that receipts name.
      assert(journal.head().seq === gap.from.seq, 'the journal holds events that it reported as not written');
      events = await journal.append(gap.unrecorded);
    } catch (error) {
      return log('error', `the journal still cannot be written (${error instanceof Error ? error.message : error})`);
    }
    this.#gap = undefined;
    await this.#refoldGap(gap.from, events);
    log('info', `the journal can be written again; ${events.length - 1} facts were recorded late`);
  }

  /** Folds the events of a gap again, with their recorded times. Their effects were handed on before. */
  async #refoldGap(from: State, events: readonly Event[]): Promise<void> {
    const rejected = new Set(events.flatMap(event => (event.kind === 'Rejected' ? [event.rejected] : [])));
    const { state, failures } = await this.#foldFrom(from, events, rejected);
    this.#state = state;
    for (const listener of this.#listeners) listener.onFolded(state, noPush, [], 0);
    await this.#write(failures);
  }

  /** Events of a gap: not in the journal yet, numbered from the state's seq. */
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

  #foldFrom(from: State, events: readonly Event[], rejected: ReadonlySet<number>): Promise<FoldedBatch> {
    const { clock, log } = this.#options;
    return foldBatch(from, events, { clock, log, rejected, listeners: this.#listeners, progress: this.#progress });
  }
}

function isFault(error: unknown, code: JournalFault['code']): error is JournalFault {
  return error instanceof JournalFault && error.code === code;
}
