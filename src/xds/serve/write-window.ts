// The global window of responses being written, and the gate for new streams: both keep a stampede (a thousand proxies reconnecting)
// from holding the memory or the event loop. First come, first served.

import type { HostClock, HostTimer } from './host.ts';

export interface WindowLimits {
  /** Writes at the same time. */
  readonly writesMax: number;
  /** Of all of them together; one that is larger goes alone. */
  readonly writeBytesMax: number;
  /** How long a write counts: a slow reader holds itself up, not others. */
  readonly writeSlotMs: number;
}

/** A write that wants a place. */
export interface Writing {
  readonly bytes: number;
  /** It has one; `leave` when the write is over. False: it does not want it any more. */
  entered(): boolean;
  /** The hold time is over, and the place was given away. */
  slow(): void;
}

export class WriteWindow {
  readonly #clock: HostClock;
  readonly #limits: WindowLimits;
  #waiting: Writing[] = [];
  /** Of `#waiting`, those before it have entered: half of it at most. */
  #next = 0;
  /** Until when each has its place, in the order in which they were taken. */
  readonly #places = new Map<Writing, number>();
  #bytes = 0;
  #timer: HostTimer | undefined;

  constructor(clock: HostClock, limits: WindowLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get taken(): number {
    return this.#places.size;
  }

  /** A place in the window for so many bytes, now or when there is one. */
  take(writing: Writing): void {
    if (this.#next === this.#waiting.length && this.#hasRoom(writing.bytes)) this.#enter(writing);
    else this.#waiting.push(writing);
  }

  /** Idempotent. */
  leave(writing: Writing): void {
    if (!this.#places.delete(writing)) return;
    this.#bytes -= writing.bytes;
    if (this.#places.size === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
    }
    for (let next = this.#waiting[this.#next]; next !== undefined && this.#hasRoom(next.bytes); ) {
      this.#next++;
      this.#enter(next);
      next = this.#waiting[this.#next];
    }
    // In halves, so that it costs each of them one move at most; under a load that never ends there is always somebody waiting.
    if (this.#next > 0 && 2 * this.#next >= this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
  }

  #hasRoom(bytes: number): boolean {
    const { writesMax, writeBytesMax } = this.#limits;
    if (this.#places.size === 0) return true;
    return this.#places.size < writesMax && this.#bytes + bytes <= writeBytesMax;
  }

  #enter(writing: Writing): void {
    if (!writing.entered()) return;
    this.#places.set(writing, this.#clock.now() + this.#limits.writeSlotMs);
    this.#bytes += writing.bytes;
    this.#watch();
  }

  /** One timer for all: it looks when the oldest place may be given away, and again for the next. */
  #watch(): void {
    if (this.#timer !== undefined) return;
    const [oldest] = this.#places.values();
    if (oldest === undefined) return;
    this.#timer = this.#clock.after(Math.max(0, oldest - this.#clock.now()), () => {
      this.#timer = undefined;
      for (const [writing, until] of this.#places) {
        if (until > this.#clock.now()) break;
        this.leave(writing);
        writing.slow();
      }
      this.#watch();
    });
  }
}

/** Those that have to wait are let in together, so often. What they need at the same time is made, recorded and committed once for all of them. */
export const GATE_TURN_MS = 500;

/** Lets `perSecond` through: after a quiet time as many as there are in a turn at once, the others at the next turn after their time has come. */
export class Gate {
  readonly #spacingMs: number;
  readonly #waitMsMax: number;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, waitMsMax: number) {
    this.#spacingMs = 1_000 / perSecond;
    this.#waitMsMax = waitMsMax;
  }

  /** One that came now would have to wait. */
  isBusy(now: number): boolean {
    return this.#nextAt > now;
  }

  /** Milliseconds to wait for one's turn; undefined: the queue is too long. */
  enter(now: number): number | undefined {
    const at = Math.max(now - GATE_TURN_MS, this.#nextAt);
    if (at - now > this.#waitMsMax) return undefined;
    this.#nextAt = at + this.#spacingMs;
    return at <= now ? 0 : Math.ceil(at / GATE_TURN_MS) * GATE_TURN_MS - now;
  }
}
