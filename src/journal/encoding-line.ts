// Batches of facts on their way to being encoded: a large one in slices, so that nothing else waits for it, and those behind it wait their turn. What
// comes out is in the order of the calls.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Unrecorded } from '../core/event.ts';
import { overloaded } from './append-queue.ts';
import type { Encoded } from './codec.ts';
import { QUEUE_WAITING_MAX } from './journal.ts';

/** Facts encoded between two turns of the event loop: some milliseconds. */
export const ENCODED_AT_ONCE = 250;

export class EncodingLine {
  readonly #encode: (fact: Unrecorded) => Encoded;
  readonly #path: string;
  /** The last one in the line. */
  #tail: Promise<void> | undefined;
  #waiting = 0;

  /** `path`: of the journal, for messages. */
  constructor(encode: (fact: Unrecorded) => Encoded, path: string) {
    this.#encode = encode;
    this.#path = path;
  }

  /**
   * Hands the encoded batch on, at once if it is small and nobody waits. Rejects with what `encode` throws, and with `overloaded` if too many
   * wait (QUEUE_WAITING_MAX); nothing is handed on then.
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

  /** Resolves when all that came before this call have passed. */
  async passed(): Promise<void> {
    await this.#tail;
  }
}
