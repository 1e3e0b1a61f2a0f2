// The events of a journal that have no effect, because folding them failed: `Rejected` facts name them, and stand
// anywhere after them.
//
// Invariant: for every event after `from` that is named anywhere up to the head, `after(from)` has its seq. A snapshot
// holds all that were named before it, so of a long journal only the events after its newest snapshot are searched:
// the journal has no index by kind, and searching it is reading it.

import type { Journal } from '../journal/journal.ts';
import { rejectedBefore, rejectedIn } from '../offline/load-state.ts';

/** Reading a snapshot takes about as long as searching this many events. */
export const SEARCHED_EVENTS_MAX = 50_000;

export class Rejections {
  readonly #journal: Journal;
  readonly #searchedMax: number;
  readonly #rejected = new Set<number>();
  /** Where the journal was searched; both ends included. */
  #searched: { readonly first: number; readonly last: number } | undefined;

  constructor(journal: Journal, searchedMax = SEARCHED_EVENTS_MAX) {
    this.#journal = journal;
    this.#searchedMax = searchedMax;
  }

  /** Seqs that have been found, in the order of finding. */
  get known(): ReadonlySet<number> {
    return this.#rejected;
  }

  /** Searches the events that have come since the last search; none before the first one. Rejects as `after`. */
  async refresh(): Promise<void> {
    if (this.#searched !== undefined) await this.after(this.#searched.last);
  }

  /** Seqs; others may be among them. Rejects with a JournalFault. */
  async after(from: number): Promise<ReadonlySet<number>> {
    const head = this.#journal.head().seq;
    if (head - from > this.#searchedMax && (this.#searched?.first ?? head) > from + 1) await this.#readSnapshot(from);
    const { first, last } = this.#searched ?? { first: from + 1, last: from };
    await this.#search(from + 1, first - 1);
    await this.#search(last + 1, head);
    this.#searched = { first: Math.min(first, from + 1), last: Math.max(last, head) };
    return this.#rejected;
  }

  async #readSnapshot(from: number): Promise<void> {
    const newest = (await this.#journal.snapshots.list()).at(-1);
    if (newest === undefined || newest.seq <= from) return;
    const before = await rejectedBefore(this.#journal);
    if (before === undefined) return;
    for (const seq of before.rejected) this.#rejected.add(seq);
    // What was searched further on, with a stretch between, is searched again.
    const { first, last } = this.#searched ?? { first: Number.POSITIVE_INFINITY, last: 0 };
    this.#searched = { first: 0, last: first <= before.seq + 1 ? Math.max(before.seq, last) : before.seq };
  }

  async #search(from: number, to: number): Promise<void> {
    if (from > to) return;
    for (const seq of await rejectedIn(this.#journal, from, to)) this.#rejected.add(seq);
  }
}
