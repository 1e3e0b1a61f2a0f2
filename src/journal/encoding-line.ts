// Encodes batches of facts, large ones in slices so that nothing else is delayed. Invariant: batches are handed on in
// the order of the calls; a batch behind a large one waits.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Unrecorded } from '../core/event.ts';
import { overloaded } from './append-queue.ts';
import type { Encoded } from './codec.ts';
import { QUEUE_WAITING_MAX } from './journal.ts';

/** Facts encoded in one tick of the event loop: a few milliseconds. */
export const ENCODED_AT_ONCE = 250;
/** No further fact is encoded in a tick that has as many characters: one object may have a million. */
export const ENCODED_CHARS_AT_ONCE = 256 * 1024;

export class EncodingLine {
  readonly #encode: (fact: Unrecorded) => Encoded;
  readonly #path: string;
  /** The last batch in the queue. */
  #tail: Promise<void> | undefined;
  #waiting = 0;

  /** `path`: of the journal, for messages. */
  constructor(encode: (fact: Unrecorded) => Encoded, path: string) {
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
    if (before === undefined && this.#encodeSome(batch, encoded)) return hand(encoded);
    if (this.#waiting >= QUEUE_WAITING_MAX) throw overloaded(this.#path);
    let leave: () => void = () => undefined;
    const mine = new Promise<void>(resolve => {
      leave = resolve;
    });
    this.#tail = mine;
    try {
      if (before === undefined) {
        await nextTurn();
      } else {
        this.#waiting++;
        await before;
        this.#waiting--;
      }
      while (!this.#encodeSome(batch, encoded)) await nextTurn();
      return hand(encoded);
    } finally {
      if (this.#tail === mine) this.#tail = undefined;
      leave();
    }
  }

  /** As many of the batch as one tick may have; true: its last one too. */
  #encodeSome(batch: readonly Unrecorded[], encoded: Encoded[]): boolean {
    const most = Math.min(batch.length, encoded.length + ENCODED_AT_ONCE);
    for (let chars = 0; encoded.length < most && chars < ENCODED_CHARS_AT_ONCE; ) {
      const one = this.#encode(batch[encoded.length]!);
      encoded.push(one);
      chars += one.body.length;
    }
    return encoded.length === batch.length;
  }

  /** Resolves when all batches before this call are handed on. */
  async passed(): Promise<void> {
    await this.#tail;
  }
}
