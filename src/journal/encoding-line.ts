// Encodes batches of facts, large ones in slices so that nothing else is delayed. Invariant: batches are handed on in
// the order of the calls; a batch behind a large one waits.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Steps } from '../core/base/steps.ts';
import type { Unrecorded } from '../core/event.ts';
import { overloaded } from './append-queue.ts';
import type { Encoded } from './codec.ts';
import { QUEUE_WAITING_MAX } from './journal.ts';

/** Facts encoded in one tick of the event loop: a few milliseconds. */
export const ENCODED_AT_ONCE = 250;
/** No further fact is encoded in a tick that has as many characters: one object may have a million. */
export const ENCODED_CHARS_AT_ONCE = 256 * 1024;

export class EncodingLine {
  readonly #encode: (fact: Unrecorded) => Steps<Encoded>;
  readonly #path: string;
  /** The last batch in the queue. */
  #tail: Promise<void> | undefined;
  #waiting = 0;

  /** `encode`: a step is as long as a tick may be. `path`: of the journal, for messages. */
  constructor(encode: (fact: Unrecorded) => Steps<Encoded>, path: string) {
    this.#encode = encode;
    this.#path = path;
  }

  /**
   * Hands the encoded batch on, synchronously if it is small and the queue is empty. Rejects with what `encode` throws,
   * or with `overloaded` if too many batches wait (QUEUE_WAITING_MAX); nothing is handed on then.
   */
  async pass<T>(batch: readonly Unrecorded[], hand: (encoded: readonly Encoded[]) => T): Promise<T> {
    const before = this.#tail;
    const encoded: Encoded[] = [];
    const steps = this.#encodeAll(batch, encoded);
    if (before === undefined && steps.next().done === true) return hand(encoded);
    if (this.#waiting >= QUEUE_WAITING_MAX) throw overloaded(this.#path);
    let leave: () => void = () => undefined;
    const mine = new Promise<void>(resolve => {
      leave = resolve;
    });
    this.#tail = mine;
    try {
      if (before === undefined) {
        await nextTurn();
        // Where a connection was read an immediate still comes in the same pass of the event loop.
        await nextTurn();
      } else {
        this.#waiting++;
        await before;
        this.#waiting--;
      }
      while (steps.next().done !== true) await nextTurn();
      return hand(encoded);
    } finally {
      if (this.#tail === mine) this.#tail = undefined;
      leave();
    }
  }

  /** Each step is as many of the batch as one tick may have. */
  *#encodeAll(batch: readonly Unrecorded[], encoded: Encoded[]): Steps<void> {
    let count = 0;
    let chars = 0;
    for (const fact of batch) {
      if (count >= ENCODED_AT_ONCE || chars >= ENCODED_CHARS_AT_ONCE) {
        [count, chars] = [0, 0];
        yield;
      }
      const one = yield* this.#encode(fact);
      encoded.push(one);
      count++;
      chars += one.body.length;
    }
  }

  /** Resolves when all batches before this call are handed on. */
  async passed(): Promise<void> {
    await this.#tail;
  }
}
