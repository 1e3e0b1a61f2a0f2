// When a new stream is served, and when a TLS handshake begins (grpc/secure-port.ts). Streams stand in a queue for each
// peer, and peers take turns: one that opens thousands delays itself. A stream that ends while it waits is passed over
// and costs no turn.
//
// Without a rate admission follows the machine: as many streams are in hand at once as IN_HAND_MAX says, from their
// turn until they were sent something, and fewer are let in while the event loop is late. With
// PILOT_MAX_REQUESTS_PER_SECOND the rate counts: over any longer time no more than that many a second, after a quiet
// time one batch at once. Unlike istiod, which refuses, it makes a stream wait for up to `waitMsMax`: a refused proxy
// reconnects at once, which costs more.

import type { HostClock, HostTimer } from './host.ts';

/**
 * With a rate, streams that wait are admitted in batches this far apart, so that their generation, facts and commits
 * are shared.
 */
export const GATE_BATCH_MS = 500;
/** Without one, as far apart at least while streams wait. */
export const GATE_PAUSE_MS = 20;
/** Streams in hand at once, and those of one peer: the rest is left for others. */
export const IN_HAND_MAX = 64;
export const IN_HAND_OF_PEER_MAX = 48;
/** A stream that takes nothing is no longer counted after this time. */
export const IN_HAND_MS_MAX = 5_000;
/** An event loop that is later than this lets in fewer at once. */
export const LATE_MS = 100;
const ADMITTED_WHEN_LATE = 8;

/** What may be in hand at once, from its turn until it is given back. */
export interface InHand {
  readonly max: number;
  readonly ofPeer: number;
  /** What takes longer is no longer counted. */
  readonly msMax: number;
}

const STREAMS_IN_HAND: InHand = { max: IN_HAND_MAX, ofPeer: IN_HAND_OF_PEER_MAX, msMax: IN_HAND_MS_MAX };

export interface GateOptions {
  readonly clock: HostClock;
  /** Undefined: as many as the machine can serve. */
  readonly perSecond: number | undefined;
  readonly waitMsMax: number;
  /** Default: as for streams. Without a rate. */
  readonly inHand?: InHand;
}

/** To be called once the stream was sent something, or is gone. */
export type Release = () => void;

interface Waiting {
  readonly since: number;
  readonly gone: () => boolean;
  readonly settle: (release: Release | undefined) => void;
}

export class AdmissionGate {
  readonly #options: GateOptions;
  readonly #limits: InHand;
  /** Peers whose streams wait; the first has the next turn. */
  readonly #queues = new Map<string, Waiting[]>();
  readonly #inHand = new Map<string, number>();
  #waiting = 0;
  #held = 0;
  #nextAt = Number.NEGATIVE_INFINITY;
  #timer: HostTimer | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#limits = options.inHand ?? STREAMS_IN_HAND;
  }

  /** True while streams wait, or one that arrives now would have to. */
  get isBusy(): boolean {
    return this.#waiting > 0 || (this.#options.perSecond !== undefined && this.#nextAt > this.#options.clock.now());
  }

  /**
   * Resolves when the stream has its turn; with undefined if it is gone by then, or would wait longer than `waitMsMax`.
   */
  enter(peer: string, gone: () => boolean): Promise<Release | undefined> {
    return new Promise(settle => {
      const now = this.#options.clock.now();
      if (this.#waitAtLeast(peer, now) > this.#options.waitMsMax) return settle(undefined);
      const queue = this.#queues.get(peer);
      const waiting: Waiting = { since: now, gone, settle };
      if (queue === undefined) this.#queues.set(peer, [waiting]);
      else queue.push(waiting);
      this.#waiting++;
      if (this.#timer === undefined) this.#admit(now, 0);
      return undefined;
    });
  }

  /** With a rate a peer waits for its own streams before it, as often as there are peers in turn. */
  #waitAtLeast(peer: string, now: number): number {
    const { perSecond } = this.#options;
    if (perSecond === undefined) return 0;
    const before = (this.#queues.get(peer)?.length ?? 0) * Math.max(1, this.#queues.size);
    return Math.max(now - GATE_BATCH_MS, this.#nextAt) + (before * 1_000) / perSecond - now;
  }

  #admit(now: number, lateMs: number): void {
    let left = lateMs > LATE_MS ? ADMITTED_WHEN_LATE : Number.POSITIVE_INFINITY;
    while (left > 0 && this.#hasTurn(now)) {
      const next = this.#next(now);
      if (next === undefined) break;
      left--;
      this.#nextAt = Math.max(now - GATE_BATCH_MS, this.#nextAt) + 1_000 / (this.#options.perSecond ?? Infinity);
      next();
    }
    if (this.#waiting > 0) this.#wakeAt(this.#nextLook(now));
  }

  #hasTurn(now: number): boolean {
    return this.#options.perSecond === undefined ? this.#held < this.#limits.max : this.#nextAt <= now;
  }

  #nextLook(now: number): number {
    if (this.#options.perSecond === undefined) return now + GATE_PAUSE_MS;
    return Math.max(Math.ceil(this.#nextAt / GATE_BATCH_MS) * GATE_BATCH_MS, now + 1);
  }

  #wakeAt(at: number): void {
    const { clock } = this.#options;
    this.#timer = clock.after(Math.max(0, at - clock.now()), () => {
      this.#timer = undefined;
      const now = clock.now();
      this.#admit(now, now - at);
    });
  }

  /**
   * Admits the next stream of the peer whose turn it is; undefined: none may be. Those that are gone or have waited too
   * long cost nothing.
   */
  #next(now: number): (() => void) | undefined {
    for (const [peer, queue] of this.#queues) {
      // With a rate nothing is counted.
      if ((this.#inHand.get(peer) ?? 0) >= this.#limits.ofPeer) continue;
      this.#queues.delete(peer);
      const found = this.#firstOf(queue, now);
      if (queue.length > 0) this.#queues.set(peer, queue);
      if (found !== undefined) return () => found.settle(this.#take(peer));
    }
    return undefined;
  }

  #firstOf(queue: Waiting[], now: number): Waiting | undefined {
    let passed = 0;
    let found: Waiting | undefined;
    for (const waiting of queue) {
      passed++;
      if (!waiting.gone() && now - waiting.since <= this.#options.waitMsMax) {
        found = waiting;
        break;
      }
      waiting.settle(undefined);
    }
    queue.splice(0, passed);
    this.#waiting -= passed;
    return found;
  }

  #take(peer: string): Release {
    if (this.#options.perSecond !== undefined) return () => undefined;
    this.#held++;
    this.#inHand.set(peer, (this.#inHand.get(peer) ?? 0) + 1);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      timer.cancel();
      this.#held--;
      const left = (this.#inHand.get(peer) ?? 1) - 1;
      if (left === 0) this.#inHand.delete(peer);
      else this.#inHand.set(peer, left);
    };
    const timer = this.#options.clock.after(this.#limits.msMax, release);
    return release;
  }
}
