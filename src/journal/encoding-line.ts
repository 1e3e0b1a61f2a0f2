// Encodes batches of facts, large ones in slices so that nothing else is delayed. Invariant: batches are handed on in
// the order of the calls; a batch behind a large one waits.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Unrecorded } from '../core/event.ts';
import { overloaded } from './append-queue.ts';
import type { Encoded } from './codec.ts';
import { QUEUE_WAITING_MAX } from './journal.ts';

/** Facts encoded in one tick of the event loop: a few milliseconds. */
export const ENCODED_AT_ONCE = 250;

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
    if (before === undefined && batch.length <= ENCODED_AT_ONCE) return hand(batch.map(this.#encode));
    if (this.#waiting >= QUEUE_WAITING_MAX) throw overloaded(this.#path);
    let leave: () => void = () => undefined;
    const mine = new Promise<void>(resolve => {
      leave = resolve;
    });
    this.#tail = mine;
    try {
      if (before !== undefined) {
        this.#waiting++;
        await before;
        this.#waiting--;
      }
      const encoded: Encoded[] = [];
      for (const fact of batch) {
        if (encoded.length > 0 && encoded.length % ENCODED_AT_ONCE === 0) await nextTurn();
        encoded.push(this.#encode(fact));
      }
      return hand(encoded);
    } finally {
      if (this.#tail === mine) this.#tail = undefined;
      leave();
    }
  }

  /** Resolves when all batches before this call are handed on. */
  async passed(): Promise<void> {
    await this.#tail;
  }
}
