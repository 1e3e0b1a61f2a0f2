// Which proxies were slow: how long after a change each was sent what followed of it. Receipts are written when a
// response leaves, and a proxy that has not answered its last one gets no next one; so a proxy that reads or answers
// slowly has receipts that come late after the newest change that they hold.
//
// A wait is a lower bound: while changes go on coming, it counts from the newest of them. Responses to a request of the
// proxy itself are no pushes.

import type { ProxyDisconnected, ProxyNacked, ProxySubscribed, PushReceipt } from '../../core/event.ts';
import type { StoredEvent } from '../../journal/journal.ts';
import { rulesOf } from '../../xds/session/types.ts';
import type { SlowProxies, SlowProxy } from './api-questions.ts';
import { type Asked, positionIn, requireAll } from './question.ts';
import type { Reader } from './reader.ts';

/** Events that are looked at: the newest of the range. */
export const LOOKED_AT_EVENTS_MAX = 20_000;
/** Proxies that are listed, the slowest first. */
export const SLOW_PROXIES_MAX = 200;

interface Found {
  readonly waits: number[];
  longest: { readonly ms: number; readonly seq: number; readonly type: string } | undefined;
  nacks: number;
  disconnects: number;
}

export async function slowProxies({ history }: Reader, asked: Asked): Promise<SlowProxies> {
  requireAll(asked);
  const { journal } = history;
  const first = await positionIn(journal, asked, 'from', history.first());
  const to = await positionIn(journal, asked, 'to', journal.head().seq);
  const from = Math.max(first, journal.base().seq + 1, to - LOOKED_AT_EVENTS_MAX + 1);
  const watch = new Watch();
  for await (const page of journal.records({ from, to, secrets: 'sealed' })) {
    for (const event of page) watch.take(event);
    asked.progress((page.at(-1)?.seq ?? from) - from, to - from);
  }
  const { proxies } = await history.at(to);
  const ids = new Map([...proxies.values()].map(({ connection, facets }) => [connection, facets.id]));
  const rows = [...watch.found].map(([connection, found]) => rowOf(ids.get(connection) ?? '', connection, found));
  rows.sort((a, b) => b.longestMs - a.longestMs || b.medianMs - a.medianMs || (a.connection < b.connection ? -1 : 1));
  return {
    from,
    to,
    proxies: rows.slice(0, SLOW_PROXIES_MAX),
    leftOut: Math.max(0, rows.length - SLOW_PROXIES_MAX),
  };
}

class Watch {
  readonly found = new Map<string, Found>();
  /** Connection and type → the newest request. */
  readonly #requests = new Map<string, number>();
  #change: { readonly seq: number; readonly time: number } | undefined;

  take(event: StoredEvent): void {
    switch (event.kind) {
      case 'Add':
      case 'Update':
      case 'Delete':
      case 'MeshConfig':
      case 'MeshNetworks':
        this.#change = { seq: event.seq, time: event.time };
        return;
      case 'ProxySubscribed': {
        const { connection, typeUrl } = JSON.parse(event.body) as ProxySubscribed;
        this.#requests.set(`${connection} ${typeUrl}`, event.seq);
        return;
      }
      case 'ProxyNacked':
        this.#of((JSON.parse(event.body) as ProxyNacked).connection).nacks++;
        return;
      case 'ProxyDisconnected':
        this.#of((JSON.parse(event.body) as ProxyDisconnected).connection).disconnects++;
        return;
      case 'Receipt':
        this.#sent(event, JSON.parse(event.body) as PushReceipt);
    }
  }

  #sent({ seq, time }: StoredEvent, { connections, typeUrl, stateSeq }: PushReceipt): void {
    const change = this.#change;
    if (change === undefined || change.seq > stateSeq) return;
    const ms = Math.max(0, time - change.time);
    for (const connection of connections) {
      if ((this.#requests.get(`${connection} ${typeUrl}`) ?? 0) > change.seq) continue;
      const found = this.#of(connection);
      found.waits.push(ms);
      if (found.longest === undefined || ms > found.longest.ms)
        found.longest = { ms, seq, type: rulesOf(typeUrl).short };
    }
  }

  #of(connection: string): Found {
    const known = this.found.get(connection);
    if (known !== undefined) return known;
    const found: Found = { waits: [], longest: undefined, nacks: 0, disconnects: 0 };
    this.found.set(connection, found);
    return found;
  }
}

/** `id`: empty when the proxy is gone by the end of the range. */
function rowOf(id: string, connection: string, { waits, longest, nacks, disconnects }: Found): SlowProxy {
  const sorted = [...waits].sort((a, b) => a - b);
  return {
    proxy: id,
    connection,
    pushes: waits.length,
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    longestMs: longest?.ms ?? 0,
    ...(longest === undefined ? {} : { longest: { seq: longest.seq, type: longest.type } }),
    nacks,
    disconnects,
  };
}
