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

/** Once. */
export type GiveBack = () => void;

interface Place {
  readonly bytes: number;
  readonly until: number;
  readonly onSlow: () => void;
}

export class WriteWindow {
  readonly #clock: HostClock;
  readonly #limits: WindowLimits;
  readonly #waiting: { readonly bytes: number; readonly enter: () => void }[] = [];
  /** In the order in which they were taken, so also of when they are given away. */
  readonly #places = new Set<Place>();
  #bytes = 0;
  #timer: HostTimer | undefined;

  constructor(clock: HostClock, limits: WindowLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get taken(): number {
    return this.#places.size;
  }

  /**
   * A place in the window for so many bytes, when there is one; call the result when the write is over. After the hold time the place is given
   * away and `onSlow` called.
   */
  take(bytes: number, onSlow: () => void): Promise<GiveBack> {
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) return Promise.resolve(this.#enter(bytes, onSlow));
    return new Promise(resolve => this.#waiting.push({ bytes, enter: () => resolve(this.#enter(bytes, onSlow)) }));
  }

  #hasRoom(bytes: number): boolean {
    const { writesMax, writeBytesMax } = this.#limits;
    if (this.#places.size === 0) return true;
    return this.#places.size < writesMax && this.#bytes + bytes <= writeBytesMax;
  }

  #enter(bytes: number, onSlow: () => void): GiveBack {
    const place: Place = { bytes, until: this.#clock.now() + this.#limits.writeSlotMs, onSlow };
    this.#places.add(place);
    this.#bytes += bytes;
    this.#watch();
    return () => this.#leave(place);
  }

  #leave(place: Place): void {
    if (!this.#places.delete(place)) return;
    this.#bytes -= place.bytes;
    if (this.#places.size === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
    }
    for (let [next] = this.#waiting; next !== undefined && this.#hasRoom(next.bytes); [next] = this.#waiting) {
      this.#waiting.shift();
      next.enter();
    }
  }

  /** One timer for all: it looks when the oldest place may be given away, and again for the next. */
  #watch(): void {
    const [oldest] = this.#places;
    if (this.#timer !== undefined || oldest === undefined) return;
    const now = this.#clock.now();
    this.#timer = this.#clock.after(Math.max(0, oldest.until - now), () => {
      this.#timer = undefined;
      for (const place of this.#places) {
        if (place.until > this.#clock.now()) break;
        this.#leave(place);
        place.onSlow();
      }
      this.#watch();
    });
  }
}

/** Those that have to wait are let in together, so often. What they need at the same time is made, recorded and committed once for all of them. */
export const GATE_TURN_MS = 200;

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
