// When snapshots are written: about every SNAPSHOT_EVENTS events, one at a time, in slices beside serving. Afterwards
// old snapshots are thinned out and, with a retention, old events are forgotten (compaction).

import { SNAPSHOT_FORMAT, snapshotOf } from '../core/fold/snapshot.ts';
import type { State } from '../core/state.ts';
import { compactBeside, type Retention } from '../history/retention.ts';
import type { Journal } from '../journal/journal.ts';
import type { Log } from './log.ts';

export const SNAPSHOT_EVENTS = 4_000;
/** A postponed snapshot is written after this many times the usual number of events at the latest. */
export const SNAPSHOT_HELD_MAX = 4;
/** This many newest snapshots are all kept. */
export const SNAPSHOTS_KEPT = 4;
/**
 * Most older snapshots that are kept, spread over the history, for questions about the past: the state at any of a
 * million events is one snapshot and at most some thousand events away.
 */
export const OLDER_SNAPSHOTS_MAX = 252;

export class Snapshotter {
  readonly #journal: Journal;
  readonly #log: Log;
  readonly #every: number;
  readonly #keep: () => Retention | undefined;
  readonly #holds: () => boolean;
  #last: number;
  #writing: Promise<void> = Promise.resolve();
  #busy = false;

  /**
   * `last`: seq of the newest snapshot. `every`: events between two. `keep`: the retention, asked for after each
   * snapshot. `holds`: true while the processor is needed for clients; the next snapshot is then postponed, within
   * bounds.
   */
  constructor(
    journal: Journal,
    last: number,
    log: Log,
    every = SNAPSHOT_EVENTS,
    keep: () => Retention | undefined = () => undefined,
    holds: () => boolean = () => false,
  ) {
    this.#journal = journal;
    this.#last = last;
    this.#log = log;
    this.#every = every;
    this.#keep = keep;
    this.#holds = holds;
  }

  /** Call it after each fold, with a state that the journal can reproduce. */
  consider(state: State): void {
    const events = state.seq - this.#last;
    if (this.#busy || events < this.#every) return;
    if (events < this.#every * SNAPSHOT_HELD_MAX && this.#holds()) return;
    this.#start(state);
  }

  /** At shutdown: writes a snapshot if there are events since the last one. */
  async finish(state: State): Promise<void> {
    await this.#writing;
    if (state.seq - this.#last >= this.#every / 4) this.#start(state);
    await this.#writing;
  }

  #start(state: State): void {
    this.#busy = true;
    this.#writing = this.#write(state).finally(() => {
      this.#busy = false;
    });
  }

  async #forget(): Promise<void> {
    const retention = this.#keep();
    const cut = retention === undefined ? undefined : await compactBeside(this.#journal, retention);
    if (cut !== undefined) this.#log('info', `forgot ${cut.removed} events before event ${cut.first}`);
  }

  async #write(state: State): Promise<void> {
    try {
      await this.#journal.snapshots.write({ seq: state.seq, format: SNAPSHOT_FORMAT, facts: snapshotOf(state) });
      const all = await this.#journal.snapshots.list();
      for (const seq of superfluous(
        all.map(info => info.seq),
        this.#journal.base().seq,
      ))
        await this.#journal.snapshots.drop(seq);
      await this.#forget();
    } catch (error) {
      this.#log('warn', `no snapshot at ${state.seq}: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#last = state.seq;
  }
}

/**
 * The snapshots to delete, of an ascending list: those older ones whose neighbours are closest, so that the rest stays
 * evenly spread. The one that a compacted journal begins with (`base` + 1) is kept.
 */
export function superfluous(seqs: readonly number[], base: number): readonly number[] {
  const kept = [...seqs];
  const going: number[] = [];
  while (kept.length > OLDER_SNAPSHOTS_MAX + SNAPSHOTS_KEPT) {
    let closest = -1;
    let gap = Number.POSITIVE_INFINITY;
    for (let i = 0; i < kept.length - SNAPSHOTS_KEPT; i++) {
      const around = kept[i + 1]! - (kept[i - 1] ?? base);
      if (around >= gap || kept[i] === base + 1) continue;
      [closest, gap] = [i, around];
    }
    if (closest < 0) break;
    going.push(...kept.splice(closest, 1));
  }
  return going;
}
