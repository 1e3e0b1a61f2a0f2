// All listeners of a proxy (spec-listeners §1; Istio core/listener.go BuildListeners).

import { compareText } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { meshPort } from '../../../core/select/listener/listener-addresses.ts';
import { interceptionMode } from '../../../core/select/proxy/proxy-config.ts';
import type { Listener } from '../../proto/types.gen.ts';
import { gatewayListeners } from './gateway-listeners.ts';
import { inboundListeners } from './inbound-listeners.ts';
import { outboundListeners } from './outbound-listeners.ts';
import { virtualOutbound } from './virtual-outbound.ts';

/** Sorted by name; one of a name. */
export const listeners: Query<'', readonly Resource<Listener>[]> = {
  name: 'generate/listeners',
  run: reader => {
    const byName = new Map<string, Resource<Listener>>();
    for (const listener of listenersOf(reader)) if (!byName.has(listener.name)) byName.set(listener.name, listener);
    return [...byName.values()].sort((a, b) => compareText(a.name, b.name));
  },
};

function listenersOf(reader: ProxyReader): readonly Resource<Listener>[] {
  switch (reader.facet('type')) {
    case 'router':
      return reader.get(gatewayListeners, '');
    case 'sidecar':
      return sidecarListeners(reader);
    default:
      return [];
  }
}

/** A mesh whose proxies listen on no port for outbound connections configures no sidecar at all. */
function sidecarListeners(reader: ProxyReader): readonly Resource<Listener>[] {
  if (meshPort(reader, 'proxyListenPort') <= 0) return [];
  const listeners = [...reader.get(inboundListeners, ''), ...reader.get(outboundListeners, '')];
  if (interceptionMode(reader) !== 'NONE') listeners.push(virtualOutbound(reader));
  return listeners;
}
