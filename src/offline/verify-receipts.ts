// `replay --verify`: folds the journal again and regenerates everything that was ever sent. A receipt names the state
// (seq) that it was made from and the digest of the client's resources afterwards; the replay must produce the same
// digest.
//
// A receipt comes later in the journal than its state, so receipts are read first and checked when the fold reaches
// their state.

import type { PushReceipt } from '../core/event.ts';
import type { State } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';
import { resourceSources } from '../xds/assemble/types.ts';
import { Engine } from '../xds/engine/engine.ts';
import { foldHistory, stateHash } from './load-state.ts';

/** Limit of listed mismatches; further ones are only counted. */
export const DIFFERENCES_MAX = 100;
/** Events between two sweeps of memoised values. */
const SWEEP_EVENTS = 1_000;

export interface ReceiptMismatch {
  /** seq of the receipt. */
  readonly seq: number;
  readonly connection: string;
  readonly typeUrl: string;
  readonly stateSeq: number;
  readonly recorded: string;
  readonly reproduced: string;
}

export interface ReplayReport {
  readonly events: number;
  readonly seq: number;
  /** Hex sha256 of the state at the end. */
  readonly stateHash: string;
  readonly receipts: number;
  /** (receipt, connection) pairs that were reproduced. */
  readonly reproduced: number;
  readonly different: number;
  readonly differences: readonly ReceiptMismatch[];
  /** Events that could not be folded although the journal has no `Rejected` for them. */
  readonly failures: readonly { readonly seq: number; readonly message: string }[];
}

type Receipt = PushReceipt & { readonly seq: number };

export async function replay(
  journal: Journal,
  options: {
    readonly verify: boolean;
    readonly to?: number;
    readonly onProgress?: (seq: number, to: number) => void;
  },
): Promise<ReplayReport> {
  const to = options.to ?? journal.head().seq;
  const receipts = options.verify ? await receiptsByState(journal, to) : new Map<number, readonly Receipt[]>();
  const engine = new Engine(resourceSources);
  const failures: { seq: number; message: string }[] = [];
  const tally = { receipts: 0, reproduced: 0, different: 0, differences: [] as ReceiptMismatch[] };
  const history = await foldHistory(journal, {
    fromSnapshot: false,
    to,
    onProgress: options.onProgress,
    onFailure: (seq, message) => failures.push({ seq, message }),
    onEvent: (_before, event, after) => {
      for (const receipt of receipts.get(event.seq) ?? []) check(engine, after, receipt, tally);
      if (event.seq % SWEEP_EVENTS === 0) engine.sweep();
    },
  });
  return { events: history.events, seq: history.state.seq, stateHash: stateHash(history.state), ...tally, failures };
}

function check(
  engine: Engine,
  state: State,
  receipt: Receipt,
  tally: { receipts: number; reproduced: number; different: number; readonly differences: ReceiptMismatch[] },
): void {
  tally.receipts++;
  for (const connection of receipt.connections) {
    const reproduced = digestAt(engine, state, connection, receipt.typeUrl);
    if (reproduced === receipt.digest) {
      tally.reproduced++;
      continue;
    }
    tally.different++;
    if (tally.differences.length >= DIFFERENCES_MAX) continue;
    const { seq, typeUrl, stateSeq, digest } = receipt;
    tally.differences.push({ seq, connection, typeUrl, stateSeq, recorded: digest, reproduced });
  }
}

function digestAt(engine: Engine, state: State, connection: string, typeUrl: string): string {
  const proxy = state.proxies.get(connection);
  const subscription = proxy?.subscriptions[typeUrl];
  if (proxy === undefined) return 'no such connection at that state';
  if (subscription === undefined) return 'not subscribed at that state';
  return (
    engine.resourcesFor(state, proxy, typeUrl, subscription)?.digest ?? 'a type that this release does not generate'
  );
}

async function receiptsByState(journal: Journal, to: number): Promise<ReadonlyMap<number, readonly Receipt[]>> {
  const found = new Map<number, Receipt[]>();
  for await (const page of journal.records({ from: journal.base().seq + 1, to })) {
    for (const record of page) {
      if (record.kind !== 'Receipt') continue;
      const receipt = { ...(JSON.parse(record.body) as PushReceipt), seq: record.seq };
      const known = found.get(receipt.stateSeq);
      if (known === undefined) found.set(receipt.stateSeq, [receipt]);
      else known.push(receipt);
    }
  }
  return found;
}
