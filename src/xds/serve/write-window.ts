// The global window of responses being written: it bounds the responses that hold a slot, and their bytes, so that a
// stampede (a thousand proxies reconnecting) holds neither the memory nor the event loop. Writes of slow readers go on
// beyond it. First come, first served: a small response does not overtake a large one that waits.
//
// Invariants: at most `writesMax` writes and `writeBytesMax` bytes hold a slot; one larger response gets a slot when it
// is alone. A write loses its slot after `writeSlotMs` and goes on without it: a slow reader delays itself, not the
// others. A slot that is given back goes to the next request at once, so `onSlotGranted` also runs within the `release`
// of another one. While a slot is held, one timer is armed.

import type { HostClock, HostTimer } from './host.ts';

export interface WindowLimits {
  /** Responses being written at the same time. */
  readonly writesMax: number;
  /** Their bytes in all; a larger response is written alone. */
  readonly writeBytesMax: number;
  /** How long a write keeps its slot. */
  readonly writeSlotMs: number;
}

/** A write that needs a slot. */
export interface SlotRequest {
  readonly bytes: number;
  /**
   * The slot is granted; call `release` after the write, not before this returns. False: the slot is no longer needed.
   */
  onSlotGranted(): boolean;
  /** The slot was taken away after `writeSlotMs`. */
  onSlotExpired(): void;
}

export class WriteWindow {
  readonly #clock: HostClock;
  readonly #limits: WindowLimits;
  #waiting: SlotRequest[] = [];
  /** Index of the first waiting one in `#waiting`. Those before it are served: at most half of the array. */
  #next = 0;
  /** Write → when its slot expires; in the order of granting. */
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

  /** Grants a slot now or when there is one. */
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
    // Served entries are cut off when they are half of the array: amortised one move each, also if the queue never
    // empties.
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

  /** One timer for all slots: it fires when the oldest expires, and is armed again for the next. */
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
