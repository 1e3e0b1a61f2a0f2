// One follower: every committed event from a seq on, once, in order. It reads what lies behind from the store and takes what is
// committed while it is at the head from memory, without reading it again.

import { assert } from '../core/base/assert.ts';
import type { Event } from '../core/event.ts';
import type { Follow } from './journal.ts';

export class Follower implements Follow {
  readonly done: Promise<void>;
  readonly #readPage: (from: number) => readonly Event[];
  readonly #onEvents: (events: readonly Event[]) => void | Promise<void>;
  #next: number;
  #stopped = false;
  /** Committed while a page was being delivered; cleared as soon as it would have to be kept for long. */
  #fresh: (readonly Event[])[] = [];
  #freshEvents = 0;
  #wake: (() => void) | undefined;

  constructor(
    from: number,
    readPage: (from: number) => readonly Event[],
    onEvents: (events: readonly Event[]) => void | Promise<void>,
  ) {
    this.#next = from;
    this.#readPage = readPage;
    this.#onEvents = onEvents;
    this.done = this.#run();
  }

  /** `events` undefined: something was committed by another process. */
  committed(events?: readonly Event[]): void {
    if (this.#freshEvents > FRESH_EVENTS_MAX) this.#forget();
    else if (events !== undefined) {
      this.#fresh.push(events);
      this.#freshEvents += events.length;
    }
    this.#wake?.();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.done;
  }

  async #run(): Promise<void> {
    // Not in the constructor's turn: whoever follows has the Follow in hand before the first event comes.
    await Promise.resolve();
    while (!this.#stopped) {
      const events = this.#take();
      if (events.length === 0) await this.#sleep();
      else {
        assert(events[0]!.seq === this.#next, `a follower at seq ${this.#next} was given ${events[0]!.seq}`);
        this.#next += events.length;
        await this.#onEvents(events);
      }
    }
  }

  #take(): readonly Event[] {
    while (this.#fresh.length > 0 && this.#fresh[0]![0]!.seq < this.#next) this.#shift();
    if (this.#fresh.length > 0 && this.#fresh[0]![0]!.seq === this.#next) return this.#shift();
    return this.#readPage(this.#next);
  }

  #shift(): readonly Event[] {
    const events = this.#fresh.shift()!;
    this.#freshEvents -= events.length;
    return events;
  }

  /** What is forgotten is read from the store when its turn comes. */
  #forget(): void {
    this.#fresh = [];
    this.#freshEvents = 0;
  }

  async #sleep(): Promise<void> {
    if (this.#fresh.length > 0) return;
    await new Promise<void>(resolve => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}

/** A follower that falls further behind than this reads from the store. */
export const FRESH_EVENTS_MAX = 2_000;
