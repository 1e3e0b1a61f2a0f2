// A journal opened for reading: the state at any position, in a warm process in well under a second.
//
// The state at a position is the fold of the journal up to there, and nothing else: from the nearest start (a state
// in memory, a snapshot in the journal, the beginning) and the tail. Reads only; works beside the process that
// writes. Basis of explain, diff, bisect, --at and the explorer's pages; the CLI formats their results.

import type { Event } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { Tracker } from '../core/query/tracker.ts';
import { emptyState, type State } from '../core/state.ts';
import type { Head, Journal } from '../journal/journal.ts';
import { openJournal } from '../journal/open.ts';
import { readSnapshot, rejectedIn } from '../offline/load-state.ts';
import { Checkpoints } from './checkpoints.ts';
import { HistoryFault } from './history-fault.ts';
import { Superseded } from './superseded.ts';

/** Recently visited states, besides the checkpoints: a slider goes back and forth. */
export const RECENT_MAX = 16;
/** Positions between two sweeps of the tracker. */
const SWEEP_POSITIONS = 8;

export interface HistoryOptions {
  readonly checkpoints?: Checkpoints;
  /** Longer ways to a position are refused: folding must not starve a process that serves. */
  readonly foldMax?: number;
  /** Called now and then while a position is folded to. */
  readonly onProgress?: (seq: number, to: number) => void;
}

export class History {
  readonly journal: Journal;
  /** For generating; shared by all visits, so that neighbouring positions share values. */
  readonly tracker = new Tracker();
  readonly #checkpoints: Checkpoints;
  readonly #foldMax: number;
  readonly #onProgress: HistoryOptions['onProgress'];
  readonly #superseded = new Superseded();
  readonly #recent = new Map<number, State>();
  #visits = 0;
  readonly #rejected = new Set<number>();
  /** Up to where the journal was searched for `Rejected`. */
  #rejectedTo = 0;

  constructor(journal: Journal, options: HistoryOptions = {}) {
    this.journal = journal;
    this.#checkpoints = options.checkpoints ?? new Checkpoints();
    this.#foldMax = options.foldMax ?? Number.POSITIVE_INFINITY;
    this.#onProgress = options.onProgress;
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
   * JournalFault if it cannot be read.
   */
  async at(seq: number): Promise<State> {
    this.#check(seq);
    const known = this.#recent.get(seq);
    if (known !== undefined) return known;
    if (++this.#visits % SWEEP_POSITIONS === 0) this.tracker.sweep();
    const state = await this.#fold(await this.#nearest(seq), seq);
    this.#remember(state);
    return state;
  }

  async #fold(start: State, to: number): Promise<State> {
    let state = start;
    if (state.seq === to) return state;
    if (to - state.seq > this.#foldMax) {
      throw new HistoryFault(
        `position ${to} is ${to - state.seq} events from the nearest snapshot, and this process folds at most ${this.#foldMax} for a question; ask the journal itself: --journal ${this.journal.path}`,
      );
    }
    const rejected = await this.#rejections();
    const superseded = this.#superseded;
    superseded.startAfter(state.seq);
    // A short fold skips superseded events; a long one passes checkpoints, which need every event.
    const short = to - state.seq <= this.#checkpoints.spacing;
    const wanted = short ? (seq: number): boolean => !superseded.mayLeaveOut(seq, to) : undefined;
    for await (const page of this.journal.read({ from: state.seq + 1, to, wanted })) {
      for (const event of page) {
        state = fold(short ? superseded.ready(state, event) : state, event, rejected, false).state;
        superseded.learn(event, state);
        if (!short) this.#checkpoints.consider(state);
      }
      this.#onProgress?.(state.seq, to);
    }
    this.#checkpoints.consider(state);
    return state;
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
    await this.journal.close();
  }

  async #nearest(seq: number): Promise<State> {
    const kept = this.#checkpoints.before(seq);
    const between = kept === undefined ? seq : seq - kept.seq;
    if (kept !== undefined && between <= this.#checkpoints.spacing) return kept;
    const snapshots = await this.journal.snapshots.list();
    const newest = snapshots.filter(info => info.seq <= seq).at(-1);
    if (newest !== undefined && newest.seq > (kept?.seq ?? 0)) {
      const state = await readSnapshot(this.journal, seq);
      if (state !== undefined && state.seq > (kept?.seq ?? 0)) {
        this.#remember(state);
        return state;
      }
    }
    if (kept !== undefined) return kept;
    if (this.first() > 0) {
      throw new HistoryFault(
        `the journal begins with event ${this.first()} and has no snapshot from before event ${seq}, so nothing is known of the state there; ` +
          'ask for a later position',
      );
    }
    return emptyState;
  }

  #check(seq: number): void {
    if (!Number.isSafeInteger(seq) || seq < this.first() || seq > this.head().seq) throw this.#missing(seq);
  }

  #missing(seq: number): HistoryFault {
    const { seq: last } = this.head();
    return new HistoryFault(`there is no position ${seq}; ${this.journal.path} goes from ${this.first()} to ${last}`);
  }

  #remember(state: State): void {
    this.#recent.delete(state.seq);
    this.#recent.set(state.seq, state);
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= RECENT_MAX) return;
      this.#recent.delete(oldest);
    }
  }

  /** `Rejected` facts stand after the events that they name. */
  async #rejections(): Promise<ReadonlySet<number>> {
    const head = this.head().seq;
    if (head > this.#rejectedTo) {
      for (const seq of await rejectedIn(this.journal, this.#rejectedTo + 1)) this.#rejected.add(seq);
      this.#rejectedTo = head;
    }
    return this.#rejected;
  }
}

/** Opens a journal file for looking only, also beside the control plane that writes it. Rejects with a JournalFault. */
export async function openHistory(path: string, options: HistoryOptions = {}): Promise<History> {
  return new History(await openJournal(path, { readonly: true }), options);
}
