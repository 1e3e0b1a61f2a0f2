// Receipts: which connections were sent what, committed before the bytes leave. Streams that send the same content in
// the same tick share one fact, so a push to a thousand equal proxies costs the journal a handful of facts. While
// further streams of a push are evaluated, receipts wait a few ticks for theirs: a commit costs more than they do.
//
// Invariant: `onCommitted` is called only after the receipt of that delivery is in the journal.

import type { PushReceipt, Unrecorded } from '../../core/event.ts';
import { XDS_SOURCE } from './host.ts';

/** Writes that start in one tick of the event loop: about 15 µs each, and as much again when HTTP/2 hands them on. */
export const WRITES_PER_TICK = 512;

/** Most ticks that receipts wait for those of streams that are still being evaluated. */
export const RECEIPT_TICKS_MAX = 4;

export interface Delivery {
  readonly connection: string;
  readonly typeUrl: string;
  readonly stateSeq: number;
  readonly digest: string;
  readonly count: number;
}

/** A delivery that waits for its commit. Exactly one of the two callbacks is called, once. */
export interface PendingReceipt extends Delivery {
  onCommitted(): void;
  /** The receipt could not be recorded, so the response must not be sent. */
  onRecordFailed(error: unknown): void;
}

export class ReceiptBook {
  readonly #record: (facts: readonly Unrecorded[]) => Promise<unknown>;
  readonly #moreToCome: () => boolean;
  #waiting: PendingReceipt[] = [];

  /** `moreToCome`: evaluations are under way that will probably end in receipts. */
  constructor(record: (facts: readonly Unrecorded[]) => Promise<unknown>, moreToCome: () => boolean = () => false) {
    this.#record = record;
    this.#moreToCome = moreToCome;
  }

  commit(one: PendingReceipt): void {
    // The streams of one push arrive here in one tick of the event loop; gathered, they share facts and a commit.
    if (this.#waiting.push(one) === 1) setImmediate(() => this.#flush(RECEIPT_TICKS_MAX));
  }

  #flush(ticksLeft: number): void {
    if (ticksLeft > 0 && this.#moreToCome()) {
      setImmediate(() => this.#flush(ticksLeft - 1));
      return;
    }
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
    // Most deliveries have the content of the one before: skip the key.
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
