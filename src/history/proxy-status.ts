// What each proxy had been sent at a position, of its receipts and NACKs. The journal records responses and refusals,
// not acknowledgements: the status is SENT where a running control plane prints SYNCED or STALE.

import type { Json, JsonObject } from '../core/base/json.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { byPushOrder, rulesOf } from '../xds/session/types.ts';
import type { History } from './history.ts';
import { proxiesAt } from './proxies.ts';

export interface TypeStatusAt {
  readonly status: 'SENT' | 'NOT_SENT' | 'ERROR';
  /** State that the last response was made from. */
  readonly stateSeq?: number;
  readonly resources?: number;
  /** Digest of all that the client held after it. */
  readonly version?: string;
  readonly lastError?: string;
}

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

export async function proxyStatusAt(history: History, state: State): Promise<readonly ProxyStatusAt[]> {
  const proxies = proxiesAt(state);
  const sent = await lastSent(history, state.seq, proxies);
  return proxies.map(proxy => ({
    proxy: proxy.facets.id,
    connection: proxy.connection,
    cluster_id: proxy.facets.clusterId,
    istio_version: textOf(proxy.metadata, 'ISTIO_VERSION'),
    protocol: proxy.protocol,
    types: Object.fromEntries(
      Object.keys(proxy.subscriptions)
        .sort(byPushOrder)
        .map(url => [rulesOf(url).short, typeStatus(proxy, url, sent.get(`${proxy.connection} ${url}`))]),
    ),
  }));
}

function typeStatus(proxy: ProxyRecord, url: string, sent: Sent | undefined): TypeStatusAt {
  const nack = proxy.nacks[url];
  const last = sent === undefined ? {} : { stateSeq: sent.stateSeq, resources: sent.count, version: sent.digest };
  if (nack !== undefined && nack.at > (sent?.seq ?? 0)) return { status: 'ERROR', ...last, lastError: nack.message };
  return { status: sent === undefined ? 'NOT_SENT' : 'SENT', ...last };
}

/** `connection type` → its newest receipt up to `to`. */
async function lastSent(
  history: History,
  to: number,
  proxies: readonly ProxyRecord[],
): Promise<ReadonlyMap<string, Sent>> {
  const found = new Map<string, Sent>();
  if (proxies.length === 0) return found;
  const from = Math.min(...proxies.map(({ connectedAt }) => connectedAt));
  for await (const page of history.events(Math.max(1, from), to)) {
    for (const event of page) {
      if (event.kind !== 'Receipt') continue;
      const { seq, stateSeq, count, digest, typeUrl } = event;
      for (const connection of event.connections)
        found.set(`${connection} ${typeUrl}`, { seq, stateSeq, count, digest });
    }
  }
  return found;
}

function textOf(metadata: JsonObject, key: string): string {
  const value: Json | undefined = metadata[key];
  return typeof value === 'string' ? value : '';
}
