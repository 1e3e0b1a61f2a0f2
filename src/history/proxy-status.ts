// What each proxy had been sent at a position, of its receipts and NACKs. The journal records responses and refusals,
// not acknowledgements: the status is SENT where a running control plane prints SYNCED or STALE.

import type { Json, JsonObject } from '../core/base/json.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { byPushOrder, rulesOf } from '../xds/session/types.ts';
import type { History } from './history.ts';
import { lastSentOf, type Sent } from './last-sent.ts';
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

/** `lookBack`: events that are looked at for the last response; what was sent before them is UNKNOWN. */
export async function proxyStatusAt(
  history: History,
  state: State,
  proxies: readonly ProxyRecord[] = proxiesAt(state),
  lookBack: number = Number.POSITIVE_INFINITY,
): Promise<readonly ProxyStatusAt[]> {
  const { sent, since } = await lastSentOf(history.journal).to(state.seq, proxies, lookBack);
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

function textOf(metadata: JsonObject, key: string): string {
  const value: Json | undefined = metadata[key];
  return typeof value === 'string' ? value : '';
}
