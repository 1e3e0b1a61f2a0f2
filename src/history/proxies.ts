// Proxies by the names that people use: the pod, `pod.namespace`, or the connection as the journal has it.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { metadataText, type ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { foldFacts, proxyFacts } from '../offline/generate.ts';
import { nodesOfPods } from '../offline/workload-proxies.ts';
import { HistoryFault } from './history-fault.ts';
import { nearestText } from './nearest.ts';

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
 * As proxiesAt; where none is connected, as in the journal of a recorder, a proxy for each pod.
 */
export function proxiesOrPodsAt(state: State): readonly ProxyRecord[] {
  if (state.proxies.size > 0) return proxiesAt(state);
  const facts = nodesOfPods(state).flatMap(({ name, node }) => proxyFacts(name, node));
  return proxiesAt(foldFacts(facts, state).state);
}

/**
 * Whether people call a proxy that: its connection, its id, its pod, `pod.namespace`, or the workload that the pod's
 * name begins with (`reviews` and `reviews-v1` of `reviews-v1-7bd4.shop`). Never a part of a word.
 */
export function isCalled(name: string, id: string, connection = ''): boolean {
  if (name === connection || name === id) return true;
  const [pod = '', namespace] = name.split('.');
  const [ownPod = '', ownNamespace] = id.split('.');
  return (ownPod === pod || ownPod.startsWith(`${pod}-`)) && (namespace === undefined || namespace === ownNamespace);
}

/**
 * Exactly one of proxiesOrPodsAt, the exact pod before those of a workload. Throws a HistoryFault that lists the
 * existing ones, the nearest first.
 */
export function proxyNamed(state: State, name: string): ProxyRecord {
  const connected = state.proxies.get(name);
  if (connected !== undefined) return connected;
  const proxies = proxiesOrPodsAt(state);
  const called = proxies.filter(({ facets, connection }) => isCalled(name, facets.id, connection));
  const exact = called.filter(({ facets }) => facets.id === name || facets.id.split('.')[0] === name);
  const found = exact.length > 0 ? exact : called;
  if (found.length === 1) return found[0]!;
  if (found.length > 1) throw new HistoryFault(`${name} may be one of several proxies: ${listed(found)}`);
  const near = nearestText(
    name,
    proxies.map(({ facets }) => facets.id),
  );
  const there = proxies.length === 0 ? '; none is connected' : near || `; connected are ${listed(proxies)}`;
  throw new HistoryFault(`no proxy ${name} is connected at position ${state.seq}${there}`);
}

/** As people call what the proxy stands before: the owner of its pod, else its canonical service, else the pod. */
export function workloadOf({ metadata, facets }: Pick<ProxyRecord, 'metadata' | 'facets'>): string {
  const labels: JsonObject = isObject(metadata.LABELS) ? metadata.LABELS : {};
  const named = metadataText(metadata, 'WORKLOAD_NAME');
  if (named !== '') return named;
  const label = ['service.istio.io/canonical-name', 'app.kubernetes.io/name', 'app']
    .map(name => labels[name])
    .find(value => typeof value === 'string' && value !== '');
  const version: Json | undefined = labels.version;
  if (typeof label === 'string') return typeof version === 'string' ? `${label}-${version}` : label;
  return facets.id.split('.')[0] ?? facets.id;
}

function listed(proxies: readonly ProxyRecord[]): string {
  const shown = proxies.slice(0, NAMES_SHOWN_MAX).map(({ facets }) => facets.id);
  const more = proxies.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
