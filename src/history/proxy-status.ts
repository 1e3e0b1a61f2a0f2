// What each proxy had been sent at a position, of its receipts and NACKs. The journal records responses and refusals,
// not acknowledgements: the status is SENT where a running control plane prints SYNCED or STALE.

import type { Json, JsonObject } from '../core/base/json.ts';
import type { PushReceipt } from '../core/event.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { byPushOrder, rulesOf } from '../xds/session/types.ts';
import type { History } from './history.ts';
import { proxiesAt } from './proxies.ts';
import type { TypeStatusAt } from './proxy-answers.ts';

export interface ProxyStatusAt {
  readonly proxy: string;
  readonly connection: string;
  readonly cluster_id: string;
  readonly istio_version: string;
  readonly protocol: string;
  /** By the short name of the type, in push order. */
  readonly types: Readonly<Record<string, TypeStatusAt>>;
}

interface Sent {
  readonly seq: number;
  readonly stateSeq: number;
  readonly count: number;
  readonly digest: string;
}

/** `lookBack`: events that are looked at for the last response; what was sent before them is UNKNOWN. */
export async function proxyStatusAt(
  history: History,
  state: State,
  proxies: readonly ProxyRecord[] = proxiesAt(state),
  lookBack: number = Number.POSITIVE_INFINITY,
): Promise<readonly ProxyStatusAt[]> {
  const { sent, since } = await lastSent(history, state.seq, proxies, lookBack);
  return proxies.map(proxy => ({
    proxy: proxy.facets.id,
    connection: proxy.connection,
    cluster_id: proxy.facets.clusterId,
    istio_version: textOf(proxy.metadata, 'ISTIO_VERSION'),
    protocol: proxy.protocol,
    types: Object.fromEntries(
      Object.keys(proxy.subscriptions)
        .sort(byPushOrder)
        .map(url => [rulesOf(url).short, typeStatus(proxy, url, sent.get(`${proxy.connection} ${url}`), since)]),
    ),
  }));
}

function typeStatus(proxy: ProxyRecord, url: string, sent: Sent | undefined, since: number): TypeStatusAt {
  const nack = proxy.nacks[url];
  const last = sent === undefined ? {} : { stateSeq: sent.stateSeq, resources: sent.count, version: sent.digest };
  if (nack !== undefined && nack.at > (sent?.seq ?? 0)) return { status: 'ERROR', ...last, lastError: nack.message };
  if (sent !== undefined) return { status: 'SENT', ...last };
  return { status: proxy.connectedAt >= since ? 'NOT_SENT' : 'UNKNOWN' };
}

/** Events read at a time on the way back. */
const STRETCH_EVENTS = 5_000;

interface LastSent {
  /** `connection type` → its newest receipt up to `to`. */
  readonly sent: ReadonlyMap<string, Sent>;
  /** Events before this one were not looked at. */
  readonly since: number;
}

/** From the newest receipt back, until every subscription has one, or `lookBack` events were looked at. */
async function lastSent(
  { journal }: History,
  to: number,
  proxies: readonly ProxyRecord[],
  lookBack: number,
): Promise<LastSent> {
  const sent = new Map<string, Sent>();
  const missing = new Set(
    proxies.flatMap(({ connection, subscriptions }) => Object.keys(subscriptions).map(url => `${connection} ${url}`)),
  );
  const connected = Math.min(...proxies.map(({ connectedAt }) => connectedAt));
  const floor = Math.max(1, journal.base().seq + 1, connected, to - lookBack + 1);
  let since = to + 1;
  while (since > floor && missing.size > 0) {
    const end = since - 1;
    since = Math.max(floor, end - STRETCH_EVENTS + 1);
    const receipts: Receipt[] = [];
    for await (const page of journal.records({ from: since, to: end, kind: 'Receipt' }))
      for (const { seq, body } of page) receipts.push({ ...(JSON.parse(body) as PushReceipt), seq });
    for (const { seq, stateSeq, count, digest, typeUrl, connections } of receipts.reverse()) {
      for (const connection of connections) {
        if (missing.delete(`${connection} ${typeUrl}`))
          sent.set(`${connection} ${typeUrl}`, { seq, stateSeq, count, digest });
      }
    }
  }
  return { sent, since: since <= connected ? 0 : since };
}

type Receipt = PushReceipt & { readonly seq: number };

function textOf(metadata: JsonObject, key: string): string {
  const value: Json | undefined = metadata[key];
  return typeof value === 'string' ? value : '';
}
