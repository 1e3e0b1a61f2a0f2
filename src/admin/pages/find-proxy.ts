// Which connected proxy a debug page is about. Invariant: a caller that may see one namespace learns nothing of a proxy
// in another, not even that it is connected.

import { verifiedIdentity } from '../../core/model/identity.ts';
import type { ProxyRecord } from '../../core/model/proxy.ts';
import type { State } from '../../core/state.ts';
import { type Answer, text, type Viewer } from '../http.ts';

/** By the proven identity: what a node says of itself gives no right to see it. */
export function mayShow(viewer: Viewer, proxy: ProxyRecord): boolean {
  return viewer === 'all' || verifiedIdentity(proxy)?.namespace === viewer.namespace;
}

/** The proxy whose connection contains the parameter `proxyID`, as istiod looks it up; an answer: there is none. */
export function askedProxy(state: State, query: URLSearchParams, viewer: Viewer): ProxyRecord | Answer {
  const proxyId = query.get('proxyID') ?? '';
  if (proxyId === '') return text('You must provide a proxyID in the query string\n', 400);
  return connectedProxy(state, proxyId, viewer) ?? notConnected();
}

export function connectedProxy(state: State, proxyId: string, viewer: Viewer): ProxyRecord | undefined {
  for (const proxy of state.proxies.values()) {
    if (proxy.connection.includes(proxyId) && mayShow(viewer, proxy)) return proxy;
  }
  return undefined;
}

/** istioctl shows this line as it is. */
function notConnected(): Answer {
  return text('Proxy not connected to this Pilot instance. It may be connected to another instance.\n', 404);
}

export function isAnswer(found: ProxyRecord | Answer): found is Answer {
  return 'status' in found;
}
