// Proxies by the names that people use: the pod, `pod.namespace`, or the connection as the journal has it.

import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { HistoryFault } from './history-fault.ts';

/** Names that a message lists; the rest is counted. */
const NAMES_SHOWN_MAX = 10;

/** The connected proxies at a state, one a node: of several connections of one node the newest. By id. */
export function proxiesAt(state: State): readonly ProxyRecord[] {
  const newest = new Map<string, ProxyRecord>();
  for (const proxy of state.proxies.values()) {
    const known = newest.get(proxy.facets.id);
    if (known === undefined || known.connectedAt <= proxy.connectedAt) newest.set(proxy.facets.id, proxy);
  }
  return [...newest.values()].sort((a, b) => (a.facets.id < b.facets.id ? -1 : 1));
}

/**
 * Exactly one proxy: by connection, by id, by `pod`, or by a part of the id that only one has. Throws a HistoryFault
 * that lists the existing ones.
 */
export function proxyNamed(state: State, name: string): ProxyRecord {
  const connected = state.proxies.get(name);
  if (connected !== undefined) return connected;
  const proxies = proxiesAt(state);
  const [pod = '', namespace] = name.split('.');
  const tests: readonly ((proxy: ProxyRecord) => boolean)[] = [
    ({ facets }) => facets.id === name,
    ({ facets }) => facets.id.startsWith(`${pod}.`) && (namespace === undefined || facets.namespace === namespace),
    ({ facets }) => facets.id.includes(name),
  ];
  for (const test of tests) {
    const found = proxies.filter(test);
    if (found.length === 1) return found[0]!;
    if (found.length > 1) throw new HistoryFault(`${name} may be one of several proxies: ${listed(found)}`);
  }
  const there = proxies.length === 0 ? 'none is connected' : `connected are ${listed(proxies)}`;
  throw new HistoryFault(`no proxy ${name} is connected at position ${state.seq}; ${there}`);
}

function listed(proxies: readonly ProxyRecord[]): string {
  const shown = proxies.slice(0, NAMES_SHOWN_MAX).map(({ facets }) => facets.id);
  const more = proxies.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
