// When a snapshot is written: about every SNAPSHOT_EVENTS events, one at a time, taken lazily so that serving goes on in between.

import { SNAPSHOT_FORMAT, snapshotOf } from '../core/fold/snapshot.ts';
import type { State } from '../core/state.ts';
import { compactBeside, type Retention } from '../history/retention.ts';
import type { Journal } from '../journal/journal.ts';
import type { Log } from './log.ts';

export const SNAPSHOT_EVENTS = 4_000;
/** So many times as many events may come while a snapshot is put off; then it is written all the same. */
export const SNAPSHOT_HELD_MAX = 4;
/** The newest are all kept. */
export const SNAPSHOTS_KEPT = 4;
/** Of older ones at most so many, spread over all of history, for questions about the past. */
export const OLDER_SNAPSHOTS_MAX = 32;

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
   * `last`: seq of the newest snapshot there is. `every`: events between two. `keep`: what is kept of the journal, asked after each.
   * `holds`: others need the processor more, so the next one is put off, within bounds.
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

  /** Call after each fold, with a state that the journal can give back. */
  consider(state: State): void {
    const events = state.seq - this.#last;
    if (this.#busy || events < this.#every) return;
    if (events < this.#every * SNAPSHOT_HELD_MAX && this.#holds()) return;
    this.#start(state);
  }

  /** At the end: whatever has come since the last one. */
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
 * Which of the snapshots, ascending by seq, are to go: of the older ones those whose neighbours stand closest, so that what stays is spread
 * evenly. The one that a compacted journal begins with (`base` + 1) is needed.
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
