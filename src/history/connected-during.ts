// Proxies of a range of positions, whether or not they are connected at its end: since when, and the record to ask
// about.
//
// A proxy's node comes with its connect, so nothing can be asked about it before; a question over a range begins
// there.

import type { ProxyRecord } from '../core/model/proxy.ts';
import type { PositionRange } from './answers.ts';
import type { History } from './history.ts';
import { HistoryFault } from './history-fault.ts';
import { nearestText } from './nearest.ts';
import { isCalled, proxiesAt, proxyNamed } from './proxies.ts';

export interface ConnectedProxy {
  readonly proxy: ProxyRecord;
  /** The first position of the range where it is connected. */
  readonly since: number;
}

/** Throws a HistoryFault that names the nearest proxies if none is called that, or several are. */
export async function connectedDuring(history: History, name: string, range: PositionRange): Promise<ConnectedProxy> {
  const all = await allConnectedDuring(history, range);
  const atEnd = await history.at(range.to);
  const called = all.filter(({ proxy }) => isCalled(name, proxy.facets.id, proxy.connection));
  const ids = new Set(called.map(({ proxy }) => proxy.facets.id));
  if (ids.size === 1) return called.at(-1)!;
  if (ids.size > 1) {
    const { facets } = proxyNamed(atEnd, name);
    return called.findLast(({ proxy }) => proxy.facets.id === facets.id)!;
  }
  const near = nearestText(
    name,
    all.map(({ proxy }) => proxy.facets.id),
  );
  throw new HistoryFault(
    `no proxy ${name} is connected between positions ${range.from} and ${range.to}${near || `; ${all.length} others are`}`,
  );
}

/** One for each node, its newest connection; `since` is of its first one. */
export async function allConnectedDuring(
  history: History,
  { from, to }: PositionRange,
): Promise<readonly ConnectedProxy[]> {
  const found = new Map<string, ConnectedProxy>();
  const start = await history.at(from);
  for (const proxy of proxiesAt(start)) found.set(proxy.facets.id, { proxy, since: from });
  for (const seq of await history.journal.seqsOf('ProxyConnected', { from: Math.max(from + 1, 1), to })) {
    const event = await history.event(seq);
    if (event.kind !== 'ProxyConnected') continue;
    const proxy = (await history.at(seq)).proxies.get(event.connection);
    if (proxy === undefined) continue;
    const since = found.get(proxy.facets.id)?.since ?? seq;
    found.set(proxy.facets.id, { proxy, since });
  }
  return [...found.values()].sort((a, b) => (a.proxy.facets.id < b.proxy.facets.id ? -1 : 1));
}
