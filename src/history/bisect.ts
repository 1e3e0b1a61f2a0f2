// The first event after which something holds, found by halving: O(log n) positions are evaluated. As with any
// bisection, what holds must hold from there to the end of the range; if it comes and goes, one of the events after
// which it came is found.

import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { encodeResource } from '../xds/engine/encode.ts';
import { CDS, EDS, LDS, RDS } from '../xds/session/types.ts';
import type { History } from './history.ts';
import { HistoryFault } from './history-fault.ts';
import { holdingsOf } from './holdings.ts';
import { isCalled } from './proxies.ts';
import { virtualHostSubject } from './subject.ts';
import { dangling, endpointCount } from './traffic.ts';

/** Undefined: unknown at this position. */
export type BisectCondition = (seq: number) => Promise<boolean | undefined>;

/** Positions evaluated in the search for one where it holds, if it does not at the end. */
export const PROBES = 32;

export interface BisectResult {
  /** The first event after which it holds. */
  readonly seq: number;
  /** It holds there, too: the position that was searched back from. */
  readonly held: number;
  /** Evaluated positions. */
  readonly evaluated: number;
}

export interface BisectRange {
  readonly from: number;
  readonly to: number;
  /** `from` is not known to be well: begin with the first position examined that is. */
  readonly search?: boolean;
}

/**
 * Undefined: it holds at no position examined. Rejects with a HistoryFault if it holds at `from` already, or is never
 * well.
 */
export async function bisect(
  range: BisectRange,
  holds: BisectCondition,
  onProgress: (evaluated: number) => void = () => undefined,
): Promise<BisectResult | undefined> {
  let evaluated = 0;
  const ask = async (seq: number): Promise<boolean | undefined> => {
    onProgress(++evaluated);
    return holds(seq);
  };
  const well = range.search === true ? await firstWell(range, ask) : range.from;
  if (well === undefined) {
    throw new HistoryFault(
      `it holds at all ${evaluated} positions evaluated between ${range.from} and ${range.to}: it was never well`,
    );
  }
  if (range.search !== true && (await ask(range.from)) === true) {
    throw new HistoryFault(`it holds at position ${range.from} already; start earlier with --from`);
  }
  const held = await lastHeld({ from: well, to: range.to }, ask);
  if (held === undefined) return undefined;
  let [low, high] = [well, held];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const answer = await nearest(middle, low, high, ask);
    if (answer === undefined) break;
    if (answer.holds) high = answer.seq;
    else low = answer.seq;
  }
  return { seq: high, held, evaluated };
}

/** The first of a few positions, evenly spread, where it does not hold. */
async function firstWell({ from, to }: BisectRange, ask: BisectCondition): Promise<number | undefined> {
  const step = Math.max(1, Math.floor((to - from) / PROBES));
  for (let seq = from; seq < to; seq += step) if ((await ask(seq)) === false) return seq;
  return undefined;
}

/** The end, or the last of a few positions, evenly spread, where it holds. */
async function lastHeld(
  { from, to }: { readonly from: number; readonly to: number },
  ask: BisectCondition,
): Promise<number | undefined> {
  if ((await ask(to)) === true) return to;
  const step = Math.max(1, Math.floor((to - from) / PROBES));
  for (let seq = to - step; seq > from; seq -= step) if ((await ask(seq)) === true) return seq;
  return undefined;
}

/** The answer at a position, or at one beside it if it is unknown there. */
async function nearest(
  middle: number,
  low: number,
  high: number,
  ask: BisectCondition,
): Promise<{ readonly seq: number; readonly holds: boolean } | undefined> {
  for (let distance = 0; middle - distance > low || middle + distance < high; distance++) {
    for (const seq of distance === 0 ? [middle] : [middle - distance, middle + distance]) {
      if (seq <= low || seq >= high) continue;
      const holds = await ask(seq);
      if (holds !== undefined) return { seq, holds };
    }
  }
  return undefined;
}

type ProxyCondition = (state: State, proxy: ProxyRecord) => boolean | undefined;

/** A condition on a proxy's resources. While it is not connected, the resources of its newest node count. */
export function conditionOfProxy(history: History, reference: ProxyRecord, condition: ProxyCondition): BisectCondition {
  return async seq => {
    const state = await history.at(seq);
    return condition(state, state.proxies.get(reference.connection) ?? reference);
  };
}

/** No virtual host has the host. */
export function routeLost(history: History, host: string): ProxyCondition {
  const subject = virtualHostSubject(host);
  return (state, proxy) => subject.answer(history.tracker, state, proxy) === undefined;
}

/** Something is sent to a cluster that is not there. `part`: only of clusters whose name has this in it. */
export function clusterMissing(history: History, part: string): ProxyCondition {
  return (state, proxy) =>
    dangling(holdingsOf(history.tracker, state, proxy)).some(({ cluster }) => cluster.includes(part));
}

/** The cluster is there and has no endpoint. */
export function endpointsLost(history: History, cluster: string): ProxyCondition {
  return (state, proxy) => endpointCount(holdingsOf(history.tracker, state, proxy), cluster) === 0;
}

const TYPES: Readonly<Record<string, string>> = { cluster: CDS, endpoint: EDS, listener: LDS, route: RDS };

/**
 * `resource`: `cluster/NAME`, `endpoint/NAME`, `listener/NAME` or `route/NAME`; changed, come or gone since position
 * `from`.
 */
export async function resourceChanged(
  history: History,
  proxy: ProxyRecord,
  resource: string,
  from: number,
): Promise<BisectCondition> {
  const slash = resource.indexOf('/');
  const typeUrl = TYPES[resource.slice(0, Math.max(0, slash))];
  const name = resource.slice(slash + 1);
  if (typeUrl === undefined) {
    throw new HistoryFault(`${resource}: expected cluster/NAME, endpoint/NAME, listener/NAME or route/NAME`);
  }
  const versionAt = (state: State, one: ProxyRecord): string => {
    const held = holdingsOf(history.tracker, state, one).get(typeUrl)?.get(name);
    return held === undefined ? '' : encodeResource(typeUrl, name, held.message).version;
  };
  let first: string | undefined;
  const holds = conditionOfProxy(history, proxy, (state, one) => {
    first ??= versionAt(state, one);
    return versionAt(state, one) !== first;
  });
  await holds(from);
  return holds;
}

function isNamed({ proxies }: State, connection: string, name: string): boolean {
  return name === '' || isCalled(name, proxies.get(connection)?.facets.id ?? connection, connection);
}

/** A proxy refused something since position `from`. `proxy`: as people call it; empty: any. */
export async function nacked(
  history: History,
  proxy: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<BisectCondition> {
  for (const seq of await history.journal.seqsOf('ProxyNacked', { from: from + 1, to })) {
    const event = await history.event(seq);
    if (event.kind === 'ProxyNacked' && isNamed(await history.at(seq), event.connection, proxy))
      return async position => position >= seq;
  }
  return async () => false;
}
