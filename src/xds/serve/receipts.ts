// Receipts: what was sent to whom, committed before the bytes leave. Streams that are about to send the same thing at the same time
// share one fact, so that a push to a thousand equal proxies costs the journal a handful of facts.

import type { PushReceipt, Unrecorded } from '../../core/event.ts';
import { XDS_SOURCE } from './host.ts';

/** Writes that begin between two turns of the event loop: some 15 µs each, and as much again when HTTP/2 hands them on. */
export const WRITES_PER_TICK = 512;

export interface Delivery {
  readonly connection: string;
  readonly typeUrl: string;
  readonly stateSeq: number;
  readonly digest: string;
  readonly count: number;
}

/** One of these is said, once. */
export interface PendingReceipt extends Delivery {
  onCommitted(): void;
  /** It cannot be recorded, so it may not be sent. */
  onRecordFailed(error: unknown): void;
}

export class ReceiptBook {
  readonly #record: (facts: readonly Unrecorded[]) => Promise<unknown>;
  #waiting: PendingReceipt[] = [];

  constructor(record: (facts: readonly Unrecorded[]) => Promise<unknown>) {
    this.#record = record;
  }

  commit(one: PendingReceipt): void {
    // The streams of one push get here one after another in one turn of the event loop: gathered, they share facts and commit.
    if (this.#waiting.push(one) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#record(receiptsOf(waiting)).then(
      () => notifyCommitted(waiting, 0),
      (error: unknown) => {
        for (const one of waiting) one.onRecordFailed(error);
      },
    );
  }
}

function notifyCommitted(committed: readonly PendingReceipt[], from: number): void {
  const to = Math.min(from + WRITES_PER_TICK, committed.length);
  if (to < committed.length) setImmediate(() => notifyCommitted(committed, to));
  for (let i = from; i < to; i++) committed[i]!.onCommitted();
}

/** One fact for each (type, state, digest), in order of first appearance, its connections sorted. */
export function receiptsOf(deliveries: readonly Delivery[]): readonly (Unrecorded & PushReceipt)[] {
  const shared = new Map<string, { readonly first: Delivery; readonly connections: Set<string> }>();
  let last: { readonly first: Delivery; readonly connections: Set<string> } | undefined;
  for (const delivery of deliveries) {
    // Most are as the one before.
    if (last === undefined || !sameContent(last.first, delivery)) {
      const key = `${delivery.typeUrl}\n${delivery.stateSeq}\n${delivery.digest}`;
      last = shared.get(key) ?? { first: delivery, connections: new Set() };
      shared.set(key, last);
    }
    last.connections.add(delivery.connection);
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

function sameContent(a: Delivery, b: Delivery): boolean {
  return a.typeUrl === b.typeUrl && a.stateSeq === b.stateSeq && a.digest === b.digest;
}
