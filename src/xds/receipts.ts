// Receipts: what was sent to whom, committed before the bytes leave. Streams that are about to send the same thing at the same time
// share one fact, so that a push to a thousand equal proxies costs the journal a handful of facts.

import type { PushReceipt, Unrecorded } from '../core/event.ts';
import { XDS_SOURCE } from './host.ts';

export interface Delivery {
  readonly connection: string;
  readonly typeUrl: string;
  readonly stateSeq: number;
  readonly digest: string;
  readonly count: number;
}

interface Waiting {
  readonly delivery: Delivery;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class ReceiptBook {
  readonly #record: (facts: readonly Unrecorded[]) => Promise<unknown>;
  #waiting: Waiting[] = [];

  constructor(record: (facts: readonly Unrecorded[]) => Promise<unknown>) {
    this.#record = record;
  }

  /** Resolves when the receipt is committed; rejects if it cannot be, and then nothing may be sent. */
  commit(delivery: Delivery): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ delivery, resolve, reject });
      // The streams of one push get here one after another in one turn of the event loop: gathered, they share facts and commit.
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#record(receiptsOf(waiting.map(({ delivery }) => delivery))).then(
      () => {
        for (const { resolve } of waiting) resolve();
      },
      (error: unknown) => {
        for (const { reject } of waiting) reject(error);
      },
    );
  }
}

/** One fact for each (type, state, digest), in order of first appearance, its connections sorted. */
export function receiptsOf(deliveries: readonly Delivery[]): readonly (Unrecorded & PushReceipt)[] {
  const shared = new Map<string, { readonly first: Delivery; readonly connections: Set<string> }>();
  for (const delivery of deliveries) {
    const key = `${delivery.typeUrl}\n${delivery.stateSeq}\n${delivery.digest}`;
    const known = shared.get(key);
    if (known === undefined) shared.set(key, { first: delivery, connections: new Set([delivery.connection]) });
    else known.connections.add(delivery.connection);
  }
  return [...shared.values()].map(({ first: { typeUrl, stateSeq, digest, count }, connections }) => ({
    source: XDS_SOURCE,
    kind: 'Receipt',
    typeUrl,
    connections: [...connections].sort(),
    stateSeq,
    digest,
    count,
  }));
}
