// The newest receipt of each subscription up to a position. The journal has no index by proxy: receipts are read from
// the position back, and what a block of events holds is kept, because positions that are asked for share most of their
// past.
//
// Limits: NEWEST_MAX receipts are kept; the blocks used longest ago are dropped first.

import type { PushReceipt } from '../core/event.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Journal } from '../journal/journal.ts';

/** Receipts that are kept: some tens of megabytes. */
export const NEWEST_MAX = 200_000;
/** Events of a block. */
const BLOCK_EVENTS = 4_096;

export interface Sent {
  readonly seq: number;
  readonly stateSeq: number;
  readonly count: number;
  readonly digest: string;
}

/** `connection type` → its newest receipt. */
type Newest = ReadonlyMap<string, Sent>;

interface LastSentTo {
  readonly sent: Newest;
  /** Events before this one were not looked at. */
  readonly since: number;
}

const byJournal = new WeakMap<Journal, LastSent>();

/** One for each journal, so that every question about it shares the blocks. */
export function lastSentOf(journal: Journal): LastSent {
  let known = byJournal.get(journal);
  if (known === undefined) {
    known = new LastSent(journal);
    byJournal.set(journal, known);
  }
  return known;
}

export class LastSent {
  readonly #journal: Journal;
  readonly #blockEvents: number;
  readonly #newestMax: number;
  /** By number: block n ends with event (n + 1) * blockEvents. */
  readonly #blocks = new Map<number, Newest>();
  #kept = 0;

  constructor(journal: Journal, blockEvents = BLOCK_EVENTS, newestMax = NEWEST_MAX) {
    this.#journal = journal;
    this.#blockEvents = blockEvents;
    this.#newestMax = newestMax;
  }

  /** From event `to` back, until every subscription has one, or `lookBack` events were looked at. */
  async to(to: number, proxies: readonly ProxyRecord[], lookBack: number): Promise<LastSentTo> {
    const sent = new Map<string, Sent>();
    const missing = new Set(
      proxies.flatMap(({ connection, subscriptions }) => Object.keys(subscriptions).map(url => `${connection} ${url}`)),
    );
    const connected = Math.min(...proxies.map(({ connectedAt }) => connectedAt));
    const floor = Math.max(1, this.#journal.base().seq + 1, connected, to - lookBack + 1);
    let since = to + 1;
    while (since > floor && missing.size > 0) {
      const newest = await this.#before(since);
      for (const name of missing) {
        const one = newest.get(name);
        if (one === undefined || one.seq < floor) continue;
        sent.set(name, one);
        missing.delete(name);
      }
      since = Math.max(floor, this.#firstOf(this.#blockOf(since - 1)));
    }
    return { sent, since: since <= connected ? 0 : since };
  }

  /** Reads the whole blocks that end after `from`, up to `to`, beforehand. `pause`: awaited before each. */
  async prepare(from: number, to: number, pause?: () => Promise<void>): Promise<void> {
    for (let block = this.#blockOf(from + 1); this.#firstOf(block + 1) <= to + 1; block++) {
      if (this.#blocks.has(block)) continue;
      if (this.#kept >= this.#newestMax / 2) return;
      await pause?.();
      await this.#before(this.#firstOf(block + 1));
    }
  }

  /** Of the events before `end`, as far as they are in the block of the last of them. */
  async #before(end: number): Promise<Newest> {
    const block = this.#blockOf(end - 1);
    const isWhole = (end - 1) % this.#blockEvents === 0;
    const known = isWhole ? this.#blocks.get(block) : undefined;
    if (known !== undefined) {
      this.#blocks.delete(block);
      this.#blocks.set(block, known);
      return known;
    }
    const newest = await this.#read(this.#firstOf(block), end - 1);
    if (isWhole) this.#keep(block, newest);
    return newest;
  }

  async #read(from: number, to: number): Promise<Newest> {
    const newest = new Map<string, Sent>();
    for await (const page of this.#journal.records({ from, to, kind: 'Receipt' })) {
      for (const { seq, body } of page) {
        const { stateSeq, count, digest, typeUrl, connections } = JSON.parse(body) as PushReceipt;
        const one: Sent = { seq, stateSeq, count, digest };
        for (const connection of connections) newest.set(`${connection} ${typeUrl}`, one);
      }
    }
    return newest;
  }

  #keep(block: number, newest: Newest): void {
    this.#blocks.set(block, newest);
    this.#kept += newest.size;
    for (const [oldest, { size }] of this.#blocks) {
      if (this.#kept <= this.#newestMax) break;
      this.#blocks.delete(oldest);
      this.#kept -= size;
    }
  }

  #blockOf(seq: number): number {
    return Math.floor((seq - 1) / this.#blockEvents);
  }

  #firstOf(block: number): number {
    return block * this.#blockEvents + 1;
  }
}
