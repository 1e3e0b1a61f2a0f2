// A journal opened for reading: the state at any position, in a warm process in well under a second.
//
// The state at a position is the fold of the journal up to there, and nothing else: from the nearest start (a state
// in memory, a snapshot in the journal, the beginning) and the tail. Reads only; works beside the process that
// writes. Basis of explain, diff, bisect, --at and the explorer's pages; the CLI formats their results.
//
// Invariant: an event that the journal says had no effect has none in any state. The process that writes says so after
// the event, so a state may have been folded in between: it is used no more once that is known (`#isSound`).

import type { Event } from '../core/event.ts';
import { Tracker } from '../core/query/tracker.ts';
import { emptyState, type State } from '../core/state.ts';
import type { Head, Journal, SnapshotInfo } from '../journal/journal.ts';
import { openJournal } from '../journal/open.ts';
import { readSnapshot } from '../offline/load-state.ts';
import { Checkpoints } from './checkpoints.ts';
import { foldAlong } from './folding.ts';
import { HistoryFault } from './history-fault.ts';
import { lastSentOf } from './last-sent.ts';
import { Rejections } from './rejections.ts';
import { type StateCache, stateCacheOf } from './state-cache.ts';
import { longestWay } from './ways.ts';

/** Recently visited states, besides the checkpoints: a slider goes back and forth. */
export const RECENT_MAX = 16;
/** Positions between two sweeps of the tracker. */
const SWEEP_POSITIONS = 8;
/** A long way leaves about this many states behind it, so that the next one is short … */
const STATES_A_WAY = 8;
/** … and none further apart than this. */
export const STATE_EVENTS_MAX = 16_384;
/** Reading a fact of a snapshot, beside a state that is known, takes as long as folding this many events. */
const EVENTS_A_FACT = 1.5;

export interface HistoryOptions {
  readonly checkpoints?: Checkpoints;
  /** Longer ways to a position are refused: folding must not starve a process that serves. */
  readonly foldMax?: number;
  /** Keep states that took long to fold to for the next process, in files beside the journal. Default: false. */
  readonly keepStates?: boolean;
  /**
   * Most likely one position is asked for: the first long way leaves no states behind, because making them costs as
   * much as the way. Default: false.
   */
  readonly oneVisit?: boolean;
  /**
   * States that a long way leaves behind it, about; 0: none, whatever its length. Fewer make the way itself shorter.
   * Default: STATES_A_WAY.
   */
  readonly statesAWay?: number;
  /** Called now and then while a position is folded to. `from`: the state that was there before. */
  readonly onProgress?: (seq: number, to: number, from: number) => void;
}

export class History {
  readonly journal: Journal;
  /** For generating; shared by all visits, so that neighbouring positions share values. */
  readonly tracker = new Tracker();
  readonly #checkpoints: Checkpoints;
  readonly #foldMax: number;
  readonly #onProgress: HistoryOptions['onProgress'];
  readonly #cache: StateCache | undefined;
  readonly #statesAWay: number;
  #leavesStates: boolean;
  readonly #recent = new Map<number, State>();
  /** State → how many rejections were known when it was folded. */
  readonly #knew = new WeakMap<State, number>();
  #visits = 0;
  readonly #rejections: Rejections;

  constructor(journal: Journal, options: HistoryOptions = {}) {
    this.journal = journal;
    this.#rejections = new Rejections(journal);
    this.#checkpoints = options.checkpoints ?? new Checkpoints();
    this.#foldMax = options.foldMax ?? Number.POSITIVE_INFINITY;
    this.#onProgress = options.onProgress;
    this.#cache = options.keepStates === true ? stateCacheOf(journal) : undefined;
    this.#statesAWay = options.statesAWay ?? STATES_A_WAY;
    this.#leavesStates = options.oneVisit !== true;
  }

  head(): Head {
    return this.journal.head();
  }

  /**
   * The first position that a state can be had of: 0, or that of the snapshot which a compacted journal begins with.
   */
  first(): number {
    const { seq } = this.journal.base();
    return seq === 0 ? 0 : seq + 1;
  }

  /**
   * Everything up to and including event `seq`. Rejects with a HistoryFault if there is no such position, with a
   * JournalFault if it cannot be read. `pause`: awaited between pages of events, for work that lets others go first.
   */
  async at(seq: number, pause?: () => Promise<void>): Promise<State> {
    this.#check(seq);
    await this.#rejections.refresh();
    const known = this.#recent.get(seq);
    if (known !== undefined && this.#isSound(known)) return known;
    if (++this.#visits % SWEEP_POSITIONS === 0) this.tracker.sweep();
    for (;;) {
      const from = await this.#nearest(seq);
      const rejected = await this.#rejections.after(from.seq);
      if (this.#isSound(from)) return this.#remember(await this.#fold(from, seq, rejected, pause));
    }
  }

  /** Seqs of the events after `from` that had no effect, because folding them failed; others may be among them. */
  rejectedAfter(from: number): Promise<ReadonlySet<number>> {
    return this.#rejections.after(from);
  }

  /** False: it was folded before it was known that an event in it had no effect. */
  #isSound(state: State): boolean {
    const { known } = this.#rejections;
    const knew = this.#knew.get(state) ?? 0;
    if (knew >= known.size) return true;
    const unknown = [...known].slice(knew);
    return unknown.every(seq => seq > state.seq || state.rejected.has(String(seq)));
  }

  async #fold(from: State, to: number, rejected: ReadonlySet<number>, pause?: () => Promise<void>): Promise<State> {
    const events = to - from.seq;
    if (events === 0) return from;
    if (events > this.#foldMax) {
      throw new HistoryFault(
        `position ${to} is ${events} events from the nearest snapshot, and this process folds at most ${this.#foldMax} for a question; ask the journal itself: --journal ${this.journal.path}`,
      );
    }
    const onState = (state: State): void => {
      this.#keep(state, rejected);
      if (state.seq % STATE_EVENTS_MAX === 0) this.#cache?.offer(state);
    };
    const state = await foldAlong({
      journal: this.journal,
      from,
      to,
      rejected,
      step: this.#step(events),
      onState,
      onProgress: seq => this.#onProgress?.(seq, to, from.seq),
      pause,
    });
    this.#keep(state, rejected);
    if (events >= STATE_EVENTS_MAX) this.#cache?.offer(state);
    return state;
  }

  #keep(state: State, rejected: ReadonlySet<number>): void {
    this.#knew.set(state, rejected.size);
    this.#checkpoints.consider(state);
  }

  /**
   * Makes one more state that is kept, so that the longest way to any position becomes shorter. For idle time.
   * `longEnough`: ways of fewer events are left as they are. False: there is none to be made. `pause`, and rejects: as
   * `at`.
   */
  async prepare(pause?: () => Promise<void>, longEnough = 0): Promise<boolean> {
    await this.#rejections.refresh();
    const { spacing } = this.#checkpoints;
    const way = longestWay({ starts: await this.#starts(), head: this.head().seq, spacing, longEnough });
    if (way === undefined) return false;
    const from = await this.#nearest(way.from);
    const rejected = await this.#rejections.after(from.seq);
    if (!this.#isSound(from)) return true;
    const [step, onState] = [Number.POSITIVE_INFINITY, (): void => undefined];
    const state = await foldAlong({ journal: this.journal, from, to: way.to, rejected, step, onState, pause });
    this.#keep(state, rejected);
    await lastSentOf(this.journal).prepare(way.from, way.end, pause);
    return state.seq === way.to;
  }

  /** Positions that a way may begin at: the first, those of kept states, and of snapshots that are worth reading. */
  async #starts(): Promise<readonly number[]> {
    const first = this.first();
    const starts = [first];
    const kept = this.#checkpoints.states().filter(state => this.#usable(state) !== undefined);
    for (const snapshot of await this.journal.snapshots.list()) {
      const before = kept.findLast(({ seq }) => seq <= snapshot.seq);
      if (snapshot.seq > first && this.#isWorthReading(snapshot, snapshot.seq, before)) starts.push(snapshot.seq);
    }
    return [...new Set([...starts, ...kept.map(({ seq }) => seq)])].sort((a, b) => a - b);
  }

  /** Between the states that a way leaves: a multiple of the checkpoints' spacing. */
  #step(events: number): number {
    if (!this.#leavesStates && events >= STATE_EVENTS_MAX) {
      this.#leavesStates = true;
      return Number.POSITIVE_INFINITY;
    }
    if (this.#statesAWay === 0) return Number.POSITIVE_INFINITY;
    let step = this.#checkpoints.spacing;
    while (step * this.#statesAWay < events && step < STATE_EVENTS_MAX) step *= 2;
    return step;
  }

  /** The event of that number. */
  async event(seq: number): Promise<Event> {
    for await (const page of this.journal.read({ from: seq, to: seq })) {
      const event = page.find(candidate => candidate.seq === seq);
      if (event !== undefined) return event;
    }
    throw this.#missing(seq);
  }

  /** Both ends included, page by page. */
  events(from: number, to: number): AsyncIterable<readonly Event[]> {
    return this.journal.read({ from: Math.max(from, this.journal.base().seq + 1), to });
  }

  async close(): Promise<void> {
    await this.#cache?.write();
    await this.journal.close();
  }

  async #nearest(seq: number): Promise<State> {
    const kept = this.#usable(later(this.#checkpoints.before(seq), this.#visitedBefore(seq)));
    if (kept !== undefined && seq - kept.seq <= this.#checkpoints.spacing) return kept;
    const snapshots = await this.journal.snapshots.list();
    const newest = snapshots.filter(info => info.seq <= seq).at(-1);
    if (newest !== undefined && this.#isWorthReading(newest, seq, kept)) {
      const state = await readSnapshot(this.journal, seq, this.#closest(seq) ?? kept);
      if (state !== undefined && state.seq > (kept?.seq ?? 0)) {
        // It is what the process that writes had.
        this.#knew.set(state, Number.POSITIVE_INFINITY);
        return this.#remember(state);
      }
    }
    const cached = await this.#cached(seq, Math.max(newest?.seq ?? 0, kept?.seq ?? 0) + STATE_EVENTS_MAX / 2);
    if (cached !== undefined) return this.#remember(cached);
    if (kept !== undefined) return kept;
    if (this.first() > 0) {
      throw new HistoryFault(
        `the journal begins with event ${this.first()} and has no snapshot from before event ${seq}, so nothing is known of the state there; ` +
          'ask for a later position',
      );
    }
    return emptyState;
  }

  async #cached(atMost: number, from: number): Promise<State | undefined> {
    const state = await this.#cache?.nearest(atMost, from);
    if (state === undefined) return undefined;
    await this.#rejections.after(state.seq);
    return this.#isSound(state) ? state : undefined;
  }

  /** Undefined: it is not sound, or a compaction forgot events after it, so nothing can be folded from it. */
  #usable(state: State | undefined): State | undefined {
    if (state === undefined || state.seq < this.journal.base().seq) return undefined;
    return this.#isSound(state) ? state : undefined;
  }

  #visitedBefore(seq: number): State | undefined {
    let last: State | undefined;
    for (const state of this.#recent.values()) if (state.seq < seq && this.#isSound(state)) last = later(last, state);
    return last;
  }

  /** Of those visited. */
  #closest(seq: number): State | undefined {
    let closest: State | undefined;
    for (const state of this.#recent.values()) {
      if (closest === undefined || Math.abs(state.seq - seq) < Math.abs(closest.seq - seq)) closest = state;
    }
    return closest;
  }

  #isWorthReading(snapshot: SnapshotInfo, seq: number, kept: State | undefined): boolean {
    if (kept === undefined || seq - kept.seq > this.#foldMax) return true;
    return snapshot.seq - kept.seq > snapshot.facts * EVENTS_A_FACT;
  }

  #check(seq: number): void {
    if (!Number.isSafeInteger(seq) || seq < this.first() || seq > this.head().seq) throw this.#missing(seq);
  }

  #missing(seq: number): HistoryFault {
    const { seq: last } = this.head();
    return new HistoryFault(`there is no position ${seq}; ${this.journal.path} goes from ${this.first()} to ${last}`);
  }

  #remember(state: State): State {
    this.#recent.delete(state.seq);
    this.#recent.set(state.seq, state);
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= RECENT_MAX) break;
      this.#recent.delete(oldest);
    }
    return state;
  }
}

function later(one: State | undefined, other: State | undefined): State | undefined {
  return one === undefined || (other !== undefined && other.seq > one.seq) ? other : one;
}

/** Opens a journal file for looking only, also beside the control plane that writes it. Rejects with a JournalFault. */
export async function openHistory(path: string, options: HistoryOptions = {}): Promise<History> {
  return new History(await openJournal(path, { readonly: true }), options);
}
