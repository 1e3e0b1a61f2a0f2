// The sources of a process that is one of several replicas: they are read only while it leads. Readiness sees a
// source as listed once the world log says so, whichever replica listed it.
//
// An adapter is started once in its life, so a second term gets new ones, made as the first were. What fails in a term
// (adapters that cannot be made, a source whose start is rejected) is tried again until the term is over.

import type { Adapter, ObjectPlace, Sink, SourceStatus } from '../adapters/adapter.ts';
import { backoffMs } from '../adapters/kit/backoff.ts';
import type { Origin } from '../core/base/problem.ts';
import type { State } from '../core/state.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

export interface LedOptions {
  readonly first: readonly Adapter[];
  /** The same sources in the same order, never started. */
  readonly again: () => Promise<readonly Adapter[]>;
  readonly state: () => State;
  readonly log: Log;
  /** In each term, once every source has been listed by this replica, or had its time: what writes may begin. */
  readonly onListed?: () => void;
  /** After which writers wait no more for an adapter that may be late. */
  readonly late: { readonly ms: number; readonly after: Clock['after'] };
}

/** Wait before sources are tried again. Without jitter: one replica leads. */
const RETRY = { minMs: 2_000, maxMs: 60_000 };

export class LedAdapters {
  readonly adapters: readonly LedAdapter[];
  readonly #options: LedOptions;
  #isUsed = false;
  #leads = false;
  /** Terms that have ended. */
  #terms = 0;
  /** Starts and stops follow one another. */
  #last: Promise<unknown> = Promise.resolve();
  /** Ends the waits of attempts when the term is over. */
  readonly #waits = new Set<() => void>();

  constructor(options: LedOptions) {
    this.#options = options;
    this.adapters = options.first.map(adapter => new LedAdapter(adapter, options.state));
  }

  lead(): void {
    this.#leads = true;
    const term = this.#terms;
    const isOver = (): boolean => !this.#leads || this.#terms !== term;
    this.#then(async () => {
      if (isOver()) return;
      if (this.#isUsed) {
        const fresh = await this.#again(isOver);
        if (fresh === undefined) return;
        for (const [i, led] of this.adapters.entries()) led.renew(fresh[i]);
      }
      this.#isUsed = true;
      this.#start(isOver);
    });
  }

  /** New adapters, tried until they can be made; undefined: the term is over. */
  async #again(isOver: () => boolean): Promise<readonly Adapter[] | undefined> {
    for (let failures = 1; ; failures++) {
      try {
        const fresh = await this.#options.again();
        if (!isOver()) return fresh;
        await Promise.allSettled(fresh.map(adapter => adapter.stop()));
      } catch (error) {
        this.#options.log('error', `the sources cannot be opened: ${messageOf(error)}`);
        await this.#wait(failures, isOver);
      }
      if (isOver()) return undefined;
    }
  }

  /** Ends early with the term. */
  #wait(failures: number, isOver: () => boolean): Promise<void> {
    if (isOver()) return Promise.resolve();
    return new Promise(resolve => {
      const timer = this.#options.late.after(backoffMs(failures, 0, RETRY), () => end());
      const end = (): void => {
        timer.cancel();
        this.#waits.delete(end);
        resolve();
      };
      this.#waits.add(end);
    });
  }

  /**
   * What writes begins once every source has been listed by this replica, or had its time if it may be late; a term
   * that ended before has no writer.
   */
  #start(isOver: () => boolean): void {
    const later = this.adapters.filter(led => led.startsAfterLists);
    const lists = this.adapters.filter(led => !later.includes(led));
    const listed = lists.map(led => {
      const isListed = this.#list(led, isOver);
      return led.mayBeLate ? this.#orLate(isListed) : isListed;
    });
    void Promise.all(listed).then(all => {
      if (!all.every(Boolean) || isOver()) return;
      this.#options.onListed?.();
      for (const led of later) void this.#list(led, isOver);
    });
  }

  /** Resolves to true when the source has been listed; a start that is rejected is repeated by a new adapter. */
  async #list(led: LedAdapter, isOver: () => boolean): Promise<boolean> {
    for (let failures = 1; ; failures++) {
      if (await led.lead(error => this.#failed(led, error))) return true;
      await this.#wait(failures, isOver);
      if (isOver()) return false;
      await led.follow().catch((error: unknown) => this.#say('error', led, error));
      const fresh = await this.#again(isOver);
      if (fresh === undefined) return false;
      const place = this.adapters.indexOf(led);
      await Promise.allSettled(fresh.filter((_, i) => i !== place).map(adapter => adapter.stop()));
      if (fresh[place] === undefined || isOver()) return false;
      led.renew(fresh[place]);
    }
  }

  /** Resolves to true when the source has been listed, or has had its time. */
  #orLate(isListed: Promise<boolean>): Promise<boolean> {
    const { ms, after } = this.#options.late;
    return new Promise(resolve => {
      void isListed.then(ok => ok && resolve(true));
      if (ms > 0) after(ms, () => resolve(true));
    });
  }

  follow(): void {
    this.#leads = false;
    this.#terms += 1;
    for (const end of this.#waits) end();
    this.#then(async () => {
      // One that cannot be stopped keeps no other running in another replica's term.
      for (const led of this.adapters) await led.follow().catch((error: unknown) => this.#say('error', led, error));
    });
  }

  /** After each batch that was folded. */
  onState(state: State): void {
    for (const led of this.adapters) led.look(state);
  }

  #then(run: () => Promise<void>): void {
    this.#last = this.#last.then(run).catch((error: unknown) => {
      this.#options.log('error', `sources: ${messageOf(error)}`);
    });
  }

  #failed(led: LedAdapter, error: unknown): void {
    if (this.#leads) this.#say('warn', led, error);
  }

  #say(level: 'warn' | 'error', { source }: LedAdapter, error: unknown): void {
    this.#options.log(level, `${source}: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export class LedAdapter implements Adapter {
  readonly source: string;
  readonly #state: () => State;
  #inner: Adapter;
  #sink: Sink | undefined;
  #leads = false;
  #listed: (() => void) | undefined;

  constructor(inner: Adapter, state: () => State) {
    this.#inner = inner;
    this.#state = state;
    this.source = inner.source;
  }

  /** Resolves once the world log has a complete list of the source, or has none because it is not a source of lists. */
  start(sink: Sink): Promise<void> {
    this.#sink = sink;
    return new Promise(resolve => {
      this.#listed = resolve;
      this.look(this.#state());
    });
  }

  async stop(): Promise<void> {
    this.#listed?.();
    await this.follow();
  }

  status(): SourceStatus {
    const synced = this.#isListed(this.#state());
    if (!this.#leads) return { synced, waiting: [], troubles: [], unreadable: [] };
    const status = this.#inner.status();
    // What another replica has listed serves until this one has.
    return { ...status, synced: synced || status.synced };
  }

  get mayBeLate(): boolean {
    const { mayBeLate, mayBeOld } = this.#inner;
    return mayBeLate === true || (mayBeOld === true && this.#state().synced.has(this.source));
  }

  get startsAfterLists(): boolean {
    return this.#inner.startsAfterLists === true;
  }

  locate(places: readonly ObjectPlace[]): Promise<readonly (Origin | undefined)[]> {
    return this.#inner.locate?.(places) ?? Promise.resolve(places.map(() => undefined));
  }

  renew(fresh: Adapter | undefined): void {
    if (fresh?.source === this.source) this.#inner = fresh;
  }

  /** Resolves when it has been listed, at once if it derives its questions from the state; false if that failed. */
  async lead(failed: (error: unknown) => void): Promise<boolean> {
    if (this.#sink === undefined || this.#leads) return true;
    this.#leads = true;
    const isDerived = this.#inner.onState !== undefined;
    this.#inner.onState?.(this.#state());
    const started = this.#inner.start(this.#sink).then(
      () => {
        this.look(this.#state());
        return true;
      },
      (error: unknown) => {
        failed(error);
        return false;
      },
    );
    return isDerived || started;
  }

  async follow(): Promise<void> {
    if (!this.#leads) return;
    this.#leads = false;
    await this.#inner.stop();
  }

  look(state: State): void {
    if (this.#leads) this.#inner.onState?.(state);
    if (this.#listed === undefined || !this.#isListed(state)) return;
    this.#listed();
    this.#listed = undefined;
  }

  /** A source that asks, instead of listing, never holds back a replica that follows. */
  #isListed(state: State): boolean {
    return state.synced.has(this.source) || this.#inner.onState !== undefined;
  }
}
