// The global window of responses being written: it bounds the responses, and their bytes, that are handed to HTTP/2 at the same time, so that a
// stampede (a thousand proxies reconnecting) holds neither the memory nor the event loop. First come, first served.
//
// Invariant: at most `writesMax` writes and `writeBytesMax` bytes hold a slot; one larger response gets a slot when it is alone. A write loses its
// slot after `writeSlotMs` and goes on without it: a slow reader delays itself, not the others.

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
export interface SlotRequest {
  readonly bytes: number;
  /** It has one; `leave` when the write is over. False: it does not want it any more. */
  onSlotGranted(): boolean;
  /** The hold time is over, and the place was given away. */
  onSlotExpired(): void;
}

export class WriteWindow {
  readonly #clock: HostClock;
  readonly #limits: WindowLimits;
  #waiting: SlotRequest[] = [];
  /** Of `#waiting`, those before it have entered: half of it at most. */
  #next = 0;
  /** Until when each has its place, in the order in which they were taken. */
  readonly #slots = new Map<SlotRequest, number>();
  #bytes = 0;
  #timer: HostTimer | undefined;

  constructor(clock: HostClock, limits: WindowLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get slotsTaken(): number {
    return this.#slots.size;
  }

  /** A place in the window for so many bytes, now or when there is one. */
  acquire(writing: SlotRequest): void {
    if (this.#next === this.#waiting.length && this.#hasRoom(writing.bytes)) this.#grant(writing);
    else this.#waiting.push(writing);
  }

  /** Idempotent. */
  release(writing: SlotRequest): void {
    if (!this.#slots.delete(writing)) return;
    this.#bytes -= writing.bytes;
    if (this.#slots.size === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
    }
    for (let next = this.#waiting[this.#next]; next !== undefined && this.#hasRoom(next.bytes); ) {
      this.#next++;
      this.#grant(next);
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
    if (this.#slots.size === 0) return true;
    return this.#slots.size < writesMax && this.#bytes + bytes <= writeBytesMax;
  }

  #grant(writing: SlotRequest): void {
    if (!writing.onSlotGranted()) return;
    this.#slots.set(writing, this.#clock.now() + this.#limits.writeSlotMs);
    this.#bytes += writing.bytes;
    this.#armTimer();
  }

  /** One timer for all: it looks when the oldest place may be given away, and again for the next. */
  #armTimer(): void {
    if (this.#timer !== undefined) return;
    const [oldest] = this.#slots.values();
    if (oldest === undefined) return;
    this.#timer = this.#clock.after(Math.max(0, oldest - this.#clock.now()), () => {
      this.#timer = undefined;
      for (const [writing, until] of this.#slots) {
        if (until > this.#clock.now()) break;
        this.release(writing);
        writing.onSlotExpired();
      }
      this.#armTimer();
    });
  }
}
