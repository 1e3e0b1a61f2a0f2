// PushRequest: why a push happens and which configurations changed, for the schedule, metrics, the log and `explain`.
// Which proxies are affected is not in it: the tracker finds that.
//
// Invariant: a monoid (law 5). Merging is associative, has an identity, and never loses a key, a reason or `full`.
// Causes are kept as a bounded list of seq ranges and a count.
// Fields and reasons: Istio pilot/pkg/model/push_context.go (PushRequest, TriggerReason).

import type { Monoid } from 'fp-ts/lib/Monoid.js';

export type Reason =
  | 'endpoint'
  | 'headlessendpoint'
  | 'config'
  | 'service'
  | 'proxy'
  | 'global'
  | 'unknown'
  | 'debug'
  | 'secret'
  | 'networks'
  | 'proxyrequest'
  | 'depdendentresource'
  | 'cluster'
  | 'tag'
  | 'ambient';

/**
 * Which events are behind a request, in bounded space: the journal is cut into blocks of `blockSize` seqs, a power of
 * two, the smallest for which at most CAUSE_BLOCKS_MAX blocks are touched. So the value is a function of the *set* of
 * causes alone, which is what makes merging associative; joining "the nearest ranges" would not be.
 */
export interface Causes {
  readonly first: number;
  readonly last: number;
  readonly blockSize: number;
  /** Block numbers (seq divided by blockSize, rounded down), ascending. */
  readonly blocks: readonly number[];
  readonly count: number;
}

export const CAUSE_BLOCKS_MAX = 32;

export interface PushRequest {
  /** False: only endpoints (or secrets) changed. */
  readonly full: boolean;
  /** Every proxy is pushed to, whatever `configsUpdated` says. */
  readonly forced: boolean;
  /** `Kind/namespace/name`, sorted, no repeats. A service counts as `ServiceEntry/<namespace>/<hostname>`. */
  readonly configsUpdated: readonly string[];
  /** Reason → how many events gave it. */
  readonly reasons: Readonly<Partial<Record<Reason, number>>>;
  readonly causes: Causes;
}

export const noPush: PushRequest = {
  full: false,
  forced: false,
  configsUpdated: [],
  reasons: {},
  causes: { first: 0, last: 0, blockSize: 1, blocks: [], count: 0 },
};

export function pushRequest(
  seq: number,
  reason: Reason,
  configs: readonly string[],
  scope: { readonly full: boolean; readonly forced?: boolean },
): PushRequest {
  return {
    full: scope.full,
    forced: scope.forced ?? false,
    configsUpdated: [...new Set(configs)].sort(),
    reasons: { [reason]: 1 },
    causes: { first: seq, last: seq, blockSize: 1, blocks: [seq], count: 1 },
  };
}

export function mergePushRequests(a: PushRequest, b: PushRequest): PushRequest {
  if (isNoPush(a)) return b;
  if (isNoPush(b)) return a;
  return {
    full: a.full || b.full,
    forced: a.forced || b.forced,
    configsUpdated: union(a.configsUpdated, b.configsUpdated),
    reasons: addCounts(a.reasons, b.reasons),
    causes: mergeCauses(a.causes, b.causes),
  };
}

/** What merging them two by two in this order gives, at a cost that follows the number of their keys. */
export function mergeAllPushRequests(requests: Iterable<PushRequest>): PushRequest {
  const sum = new PushRequestSum();
  for (const request of requests) sum.add(request);
  return sum.total();
}

/** Gathers requests. Merging each with all before it would copy and sort the keys of all, once for each request. */
export class PushRequestSum {
  /** Thousands of changes may have one list in common. */
  readonly #lists = new Set<readonly string[]>();
  /** All but the keys. */
  #merged = noPush;

  add(request: PushRequest): void {
    if (isNoPush(request)) return;
    if (request.configsUpdated.length > 0) this.#lists.add(request.configsUpdated);
    this.#merged = mergePushRequests(this.#merged, { ...request, configsUpdated: [] });
  }

  total(): PushRequest {
    const [first, ...others] = this.#lists;
    if (first === undefined) return this.#merged;
    return { ...this.#merged, configsUpdated: others.length === 0 ? first : sortedUnion(this.#lists) };
  }
}

export const pushRequestMonoid: Monoid<PushRequest> = { empty: noPush, concat: mergePushRequests };

export function isNoPush(request: PushRequest): boolean {
  return request.causes.count === 0;
}

/** Configurations that `showPushRequest` names. */
export const SHOWN_CONFIGS_MAX = 5;

/** One line for the log: extent, reasons and the first configurations. */
export function showPushRequest({ full, forced, configsUpdated, reasons, causes }: PushRequest): string {
  const extent = forced ? 'forced' : full ? 'full' : 'incremental';
  const named = configsUpdated.slice(0, SHOWN_CONFIGS_MAX).join(', ');
  const more = configsUpdated.length > SHOWN_CONFIGS_MAX ? ' …' : '';
  const configs = configsUpdated.length === 0 ? 'no configuration' : `${named}${more}`;
  const events = `${causes.count} ${causes.count === 1 ? 'event' : 'events'} up to ${causes.last}`;
  return `${extent} (${Object.keys(reasons).join(', ')}): ${configs}; ${events}`;
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length === 0 || a === b) return b;
  return b.length === 0 ? a : sortedUnion([a, b]);
}

function sortedUnion(lists: Iterable<readonly string[]>): readonly string[] {
  const keys = new Set<string>();
  for (const list of lists) for (const key of list) keys.add(key);
  return [...keys].sort();
}

function addCounts(a: PushRequest['reasons'], b: PushRequest['reasons']): PushRequest['reasons'] {
  const sum: Partial<Record<Reason, number>> = {};
  for (const reason of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort() as Reason[]) {
    sum[reason] = (a[reason] ?? 0) + (b[reason] ?? 0);
  }
  return sum;
}

function mergeCauses(a: Causes, b: Causes): Causes {
  let blockSize = Math.max(a.blockSize, b.blockSize);
  let blocks = blocksAt(a, b, blockSize);
  while (blocks.length > CAUSE_BLOCKS_MAX) {
    blockSize *= 2;
    blocks = blocksAt(a, b, blockSize);
  }
  return {
    first: Math.min(a.first, b.first),
    last: Math.max(a.last, b.last),
    blockSize,
    blocks,
    count: a.count + b.count,
  };
}

function blocksAt(a: Causes, b: Causes, blockSize: number): readonly number[] {
  const found = new Set<number>();
  for (const causes of [a, b]) {
    for (const block of causes.blocks) found.add(Math.floor((block * causes.blockSize) / blockSize));
  }
  return [...found].sort((x, y) => x - y);
}
