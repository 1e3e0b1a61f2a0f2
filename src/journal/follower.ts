// One follower: delivers every committed event from a seq on, once, in order. It reads older events from the store, and
// takes events that are committed while it is at the head from memory.

import { assert } from '../core/base/assert.ts';
import type { Event } from '../core/event.ts';
import type { Follow } from './journal.ts';

export class Follower implements Follow {
  readonly done: Promise<void>;
  readonly #readPage: (from: number) => readonly Event[];
  readonly #onEvents: (events: readonly Event[]) => void | Promise<void>;
  #next: number;
  #stopped = false;
  /** Events committed while a page is being delivered; dropped when there are too many. */
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

  /** `events` undefined: another process committed events. */
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
    // Not within the constructor: the caller has its Follow before the first event arrives.
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

  /** Dropped events are read from the store later. */
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
