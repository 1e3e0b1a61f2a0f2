// Facts about proxies: who is connected, what they watch, what they refused.

import { isObject, type JsonObject } from '../base/json.ts';
import type { Event, ProxySubscribed } from '../event.ts';
import type { Settings } from '../mesh/settings.ts';
import { type ProxyRecord, parseNode, type Subscription } from '../model/proxy.ts';
import { pushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import { isSorted, type NameLists, withoutUses, withUse } from './name-lists.ts';
import type { Reduced } from './reduced.ts';

export function connectProxy(state: State, event: Event & { readonly kind: 'ProxyConnected' }): Reduced {
  const facets = facetsOf(state.settings, event.node);
  if ('error' in facets) return [state, []];
  const record: ProxyRecord = {
    connection: event.connection,
    connectedAt: event.seq,
    protocol: event.protocol,
    node: event.node,
    facets,
    extensionsDigest: event.extensions,
    metadata: isObject(event.node.metadata) ? event.node.metadata : {},
    extensions: extensionNames(state, event.extensions),
    identities: event.identities ?? [],
    ...(event.proof === undefined ? {} : { proof: event.proof }),
    subscriptions: {},
    nacks: {},
  };
  const nameLists = withoutUses(state.nameLists, listsOf(state.proxies.get(event.connection)));
  return [{ ...state, nameLists, proxies: state.proxies.with(event.connection, record) }, []];
}

/** What follows from a node, with an alias of a cluster replaced by the cluster (istiod's --clusterAliases). */
export function facetsOf(settings: Settings, node: JsonObject): ReturnType<typeof parseNode> {
  const facets = parseNode(node);
  if ('error' in facets) return facets;
  const { clusterAliases } = settings;
  const target = Object.hasOwn(clusterAliases, facets.clusterId) ? clusterAliases[facets.clusterId] : undefined;
  return target === undefined ? facets : { ...facets, clusterId: target };
}

export function subscribeProxy(state: State, event: Event & { readonly kind: 'ProxySubscribed' }): Reduced {
  const proxy = state.proxies.get(event.connection);
  if (proxy === undefined) return [state, []];
  const old = proxy.subscriptions[event.typeUrl];
  const subscription = subscriptionAfter(state.nameLists, old, event);
  const changed: ProxyRecord = {
    ...proxy,
    subscriptions: { ...proxy.subscriptions, [event.typeUrl]: subscription },
  };
  const proxies = state.proxies.with(event.connection, changed);
  if (old?.list === subscription.list) return [{ ...state, proxies }, []];
  const nameLists = withoutUses(withUse(state.nameLists, subscription.list), [old?.list]);
  return [{ ...state, proxies, nameLists }, []];
}

/** A first subscription to listed names has the very list: proxies that ask for the same thousand names share one. */
function subscriptionAfter(
  lists: NameLists,
  old: Subscription | undefined,
  { list, subscribe, unsubscribe, wildcard }: ProxySubscribed,
): Subscription {
  const before = old?.names ?? nothing;
  const listed = list === undefined ? undefined : lists.get(list)?.names;
  if (subscribe.length === 0 && unsubscribe.length === 0) {
    if (listed === undefined && old !== undefined) return { ...old, wildcard };
    if (listed !== undefined && before.length === 0) return { wildcard, names: listed, list };
  }
  const names = namesAfter(before, listed === undefined ? subscribe : [...listed, ...subscribe], unsubscribe);
  return { wildcard, names };
}

const nothing: readonly string[] = [];

/**
 * Sorted. A first subscription that is so already is kept as it is: journals from before names were listed have them in
 * full each time.
 */
function namesAfter(
  before: readonly string[],
  subscribe: readonly string[],
  unsubscribe: readonly string[],
): readonly string[] {
  const first = before.length === 0 && unsubscribe.length === 0;
  if (first && isSorted(subscribe)) return subscribe;
  const names = new Set(before);
  for (const name of subscribe) names.add(name);
  for (const name of unsubscribe) names.delete(name);
  return [...names].sort();
}

/**
 * Interned values past which those go that no connected proxy refers to. A mesh has a handful of builds of Envoy; a
 * client that lists other extensions with each stream makes the state grow no further.
 */
export const INTERNED_MAX = 64;

/**
 * A value is named by its digest, so the first one stays. Proxies that named it before it was there, as in a journal
 * whose facts came in another order, have their extensions from now on.
 */
export function internValue(state: State, event: Event & { readonly kind: 'Interned' }): Reduced {
  if (state.interned.has(event.digest)) return [state, []];
  const kept = state.interned.size < INTERNED_MAX ? state.interned : referredTo(state);
  const known: State = { ...state, interned: kept.with(event.digest, event.value) };
  const waiting = [...state.proxies.entries()].filter(([, proxy]) => proxy.extensionsDigest === event.digest);
  if (waiting.length === 0) return [known, []];
  const extensions = extensionNames(known, event.digest);
  const proxies = state.proxies.withAll(waiting.map(([key, proxy]) => [key, { ...proxy, extensions }]));
  const request = pushRequest(event.seq, 'proxy', [], { full: true, forced: true });
  return [{ ...known, proxies }, [{ kind: 'Push', request }]];
}

function referredTo({ interned, proxies }: State): State['interned'] {
  const used = new Set([...proxies.values()].map(({ extensionsDigest }) => extensionsDigest));
  return [...interned.keys()].filter(digest => !used.has(digest)).reduce((kept, old) => kept.without(old), interned);
}

export function nackProxy(state: State, event: Event & { readonly kind: 'ProxyNacked' }): Reduced {
  const proxy = state.proxies.get(event.connection);
  if (proxy === undefined) return [state, []];
  const nack = { at: event.seq, message: event.message };
  const changed: ProxyRecord = { ...proxy, nacks: { ...proxy.nacks, [event.typeUrl]: nack } };
  return [{ ...state, proxies: state.proxies.with(event.connection, changed) }, []];
}

export function disconnectProxy(state: State, event: Event & { readonly kind: 'ProxyDisconnected' }): Reduced {
  const nameLists = withoutUses(state.nameLists, listsOf(state.proxies.get(event.connection)));
  return [{ ...state, nameLists, proxies: state.proxies.without(event.connection) }, []];
}

function listsOf(proxy: ProxyRecord | undefined): readonly (string | undefined)[] {
  return proxy === undefined ? nothing : Object.values(proxy.subscriptions).map(({ list }) => list);
}

/** Names in the interned `node.extensions`; undefined when the proxy listed none. */
function extensionNames(state: State, digest: string | undefined): ReadonlySet<string> | undefined {
  const list = digest === undefined ? undefined : state.interned.get(digest);
  if (!Array.isArray(list)) return undefined;
  const names = new Set<string>();
  for (const extension of list) {
    if (isObject(extension) && typeof extension.name === 'string') names.add(extension.name);
  }
  return names.size === 0 ? undefined : names;
}
