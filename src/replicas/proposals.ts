// Facts of the sources on their way into the world log. What is new is derived from the state at a position, and
// appended only if nothing else follows that position; otherwise that is folded first and the news is derived again.
// Then it waits until this replica has folded its own entry, like every other replica.
//
// Invariant: a fact is in the log once. An append without an answer is repeated with the same id until the entry is
// seen, or another entry stands where it would have stood.

import { randomUUID } from 'node:crypto';
import type { Unrecorded } from '../core/event.ts';
import type { State } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';
import { ENTRY_FORMAT, type EntryHeader, entryText } from './entry.ts';
import type { Fate, Mirror, MirrorClock } from './mirror.ts';
import type { WorldLog } from './world-log.ts';

/** Candidates that are examined in one tick of the event loop. */
export const NEWS_SLICE = 1_000;
/** Pause before an append without an answer is repeated. */
export const REPEAT_MS = 250;
/** An append that found something in its way is repeated if this replica has not read that by then. */
export const CONFLICT_MS_MAX = 2_000;
/** Characters of one entry; a larger batch becomes several, a larger fact one of its own. */
export const ENTRY_CHARS_MAX = 16 * 1024 * 1024;

export type News = (state: State) => Iterable<Unrecorded | undefined>;

/** The answer to facts of a source at a replica that does not lead, or leads no more. */
export class NotLeading extends Error {
  override readonly name = 'NotLeading';
}

export interface ProposalsOptions {
  readonly id: string;
  readonly log: WorldLog;
  readonly mirror: Mirror;
  readonly journal: Pick<Journal, 'toLines'>;
  readonly state: () => State;
  readonly clock: MirrorClock;
  /** The term in which this replica may write; undefined: it may not. */
  readonly term: () => number | undefined;
  /** Makes the name of a log that has no entry yet. */
  readonly newLogName?: () => string;
  /** Tells this process from earlier ones of the same replica. */
  readonly boot?: string;
}

const BOOT_CHARS = 8;

interface Proposal {
  readonly news: News;
  /** An entry is written also if there is no news. */
  readonly isCheck?: boolean;
  readonly resolve: (state: State) => void;
  readonly reject: (error: unknown) => void;
}

interface Written {
  readonly proposal: Proposal;
  readonly lines: readonly string[];
}

export class Proposals {
  readonly #options: ProposalsOptions;
  readonly #boot: string;
  #queue: Proposal[] = [];
  #entries = 0;
  #running = false;
  #stopped = false;
  /** Wakes whatever waits for an answer when this replica leads no more. */
  readonly #given = new Set<() => void>();

  constructor(options: ProposalsOptions) {
    this.#options = options;
    this.#boot = options.boot ?? randomUUID().slice(0, BOOT_CHARS);
  }

  /** Resolves with the state in which the facts are folded. Rejects with NotLeading. */
  recordNews(news: News): Promise<State> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ news, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  /** Writes an entry at which every replica takes the digest of its world. */
  async check(): Promise<void> {
    await new Promise<State>((resolve, reject) => {
      this.#queue.push({ news: () => [], isCheck: true, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  /** Begins a term; `false`: something else was written first, or the log gave no answer for `msMax`. */
  async begin(term: number, msMax: number): Promise<boolean> {
    const header = this.#header(term, []);
    const late = this.#options.clock.now() + msMax;
    const fate = await this.#append({ ...header, begins: true }, [], () => this.#options.clock.now() > late);
    return fate === 'folded';
  }

  /** This replica leads no more: what waits is refused. */
  giveUp(): void {
    for (const wake of this.#given) wake();
    this.#given.clear();
  }

  stop(): void {
    this.#stopped = true;
    this.giveUp();
  }

  async #run(): Promise<void> {
    this.#running = true;
    // In the next tick, so that news of one tick becomes one entry.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const taken = this.#queue.splice(0);
      try {
        const state = await this.#write(taken);
        for (const { resolve } of taken) resolve(state);
      } catch (error) {
        for (const { reject } of taken) reject(error);
      }
    }
    this.#running = false;
  }

  async #write(proposals: readonly Proposal[]): Promise<State> {
    const { state, term, mirror } = this.#options;
    for (;;) {
      const now = term();
      if (now === undefined || this.#stopped || mirror.lost !== undefined) throw notLeading(mirror.lost);
      const from = state();
      const written: Written[] = [];
      for (const proposal of proposals) {
        const lines = await this.#linesOf(proposal, from);
        if (lines !== undefined) written.push({ proposal, lines });
      }
      const lines = written.flatMap(one => one.lines);
      const isCheck = lines.length === 0 && proposals.some(proposal => proposal.isCheck === true);
      if (lines.length === 0 && !isCheck) return from;
      if (from.worldLog?.position !== mirror.position.position) continue;
      const fate = await this.#writeAll(now, isCheck ? [[]] : partsOf(lines));
      if (fate === 'folded') return state();
      if (fate === 'ignored' || fate === 'given-up') throw notLeading(mirror.lost);
    }
  }

  /** Undefined: the facts cannot be recorded, and the caller was told. */
  async #linesOf({ news, reject }: Proposal, from: State): Promise<readonly string[] | undefined> {
    try {
      const facts: Unrecorded[] = [];
      let taken = 0;
      for (const fact of news(from)) {
        if (fact !== undefined) facts.push(fact);
        if (++taken % NEWS_SLICE === 0) await new Promise<void>(resolve => setImmediate(resolve));
      }
      return this.#options.journal.toLines(facts);
    } catch (error) {
      reject(error);
      return undefined;
    }
  }

  async #writeAll(term: number, parts: Iterable<readonly string[]>): Promise<Fate | 'other' | 'given-up'> {
    for (const part of parts) {
      const isOver = (): boolean => this.#options.term() !== term;
      const fate = await this.#append(this.#header(term, part), part, isOver);
      if (fate !== 'folded') return fate;
    }
    return 'folded';
  }

  #header(term: number, lines: readonly string[]): EntryHeader {
    const { id, mirror, state, clock, newLogName = randomUUID } = this.#options;
    const { chain, log } = mirror.position;
    return {
      format: ENTRY_FORMAT,
      log: log === '' ? newLogName() : log,
      id: `${id}-${this.#boot}-${++this.#entries}`,
      writer: id,
      term,
      time: Math.max(clock.now(), state().time),
      after: chain,
      facts: lines.length,
    };
  }

  async #append(
    header: EntryHeader,
    lines: readonly string[],
    isOver: () => boolean,
  ): Promise<Fate | 'other' | 'given-up'> {
    const { log, mirror } = this.#options;
    const after = mirror.position.position;
    const text = entryText({ header, lines });
    const waiting = mirror.await(header.id);
    let fate: Fate | undefined;
    const seen = waiting.fate.then(found => {
      fate = found;
    });
    try {
      for (;;) {
        const appended = await log.append(text, after, header.id);
        if (fate !== undefined) return fate;
        if (appended.kind === 'written') await this.#until(() => fate !== undefined || isOver(), seen);
        if (appended.kind === 'conflict') {
          // What is in the way may be the entry itself, from an append without an answer, or a part of an entry whose
          // writer died, at which no entry ever ends.
          if (appended.last < after) await mirror.check();
          const late = this.#options.clock.now() + CONFLICT_MS_MAX;
          const isRead = (): boolean => mirror.position.position >= appended.last;
          const isLate = (): boolean => isOver() || this.#options.clock.now() >= late;
          await this.#until(() => fate !== undefined || isRead() || isLate(), seen);
          if (fate === undefined && mirror.lost === undefined && isRead()) return 'other';
        }
        if (fate !== undefined) return fate;
        if (isOver() || this.#stopped || mirror.lost !== undefined) return 'given-up';
        await this.#pause(REPEAT_MS, seen);
        if (fate !== undefined) return fate;
      }
    } finally {
      waiting.forget();
    }
  }

  /** Until it is so, or the log is lost, or this replica is stopping. */
  async #until(isSo: () => boolean, seen: Promise<void>): Promise<void> {
    const { mirror } = this.#options;
    while (!isSo() && !this.#stopped && mirror.lost === undefined) await this.#pause(REPEAT_MS, seen);
  }

  #pause(ms: number, seen: Promise<void>): Promise<void> {
    let forget = (): void => undefined;
    const passed = new Promise<void>(resolve => {
      const timer = this.#options.clock.after(ms, resolve);
      this.#given.add(resolve);
      forget = () => {
        timer.cancel();
        this.#given.delete(resolve);
      };
    });
    return Promise.race([seen, passed]).finally(forget);
  }
}

function notLeading(lost: string | undefined): NotLeading {
  return new NotLeading(lost === undefined ? 'another replica writes what the sources say' : 'the world log is lost');
}

/** In order, each at most ENTRY_CHARS_MAX unless one fact alone is more. */
export function* partsOf(lines: readonly string[], charsMax = ENTRY_CHARS_MAX): IterableIterator<readonly string[]> {
  let part: string[] = [];
  let chars = 0;
  for (const line of lines) {
    if (part.length > 0 && chars + line.length > charsMax) {
      yield part;
      part = [];
      chars = 0;
    }
    part.push(line);
    chars += line.length + 1;
  }
  if (part.length > 0) yield part;
}
