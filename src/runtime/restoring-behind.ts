// Folds carried facts at once, one group behind the journal: a group is folded while the writer's thread stores the
// next, so a replica that catches up works on two cores.
//
// Invariant: only events that the journal has are folded. An event that cannot be folded makes the whole unsound; the
// caller then folds the journal one by one, which finds it.

import type { Event } from '../core/event.ts';
import type { UnreadVersion } from '../core/fold/record.ts';
import { Restoring } from '../core/fold/restore.ts';
import type { State } from '../core/state.ts';

const noneRejected: ReadonlySet<number> = new Set();

export class RestoringBehind {
  readonly #restoring: Restoring;
  #waiting: readonly (Event | UnreadVersion)[] = [];
  #isSound = true;

  constructor(from: State) {
    this.#restoring = new Restoring(from);
  }

  /** Takes events that the journal has stored; `catchUp` folds them. */
  add(events: readonly (Event | UnreadVersion)[]): void {
    this.catchUp();
    this.#waiting = events;
  }

  catchUp(): void {
    const events = this.#waiting;
    this.#waiting = [];
    try {
      for (const event of events) {
        this.#isSound &&= this.#restoring.event(event, noneRejected) === undefined;
      }
    } catch {
      this.#isSound = false;
    }
  }

  /** The state after all events; undefined: one of them cannot be folded. */
  finish(): State | undefined {
    this.catchUp();
    try {
      return this.#isSound ? this.#restoring.finish() : undefined;
    } catch {
      return undefined;
    }
  }
}
