// All listeners of a proxy: those of a gateway, or inbound, outbound and virtual ones of a sidecar, with its patches.
// Source: Istio pilot/pkg/networking/core/listener.go (BuildListeners).

import { compareText } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { meshPort } from '../../../core/select/listener/listener-addresses.ts';
import type { PatchContext } from '../../../core/select/patch/envoy-patch.ts';
import { sendsHbone } from '../../../core/select/proxy/hbone.ts';
import { interceptionMode } from '../../../core/select/proxy/proxy-config.ts';
import { isWaypoint, proxyType } from '../../../core/select/proxy/proxy-type.ts';
import type { Listener } from '../../proto/types.gen.ts';
import { listenersAddedFor, patchedListeners } from '../patch/listeners.ts';
import { gatewayListeners } from './gateway.ts';
import { inboundListeners } from './inbound.ts';
import { outboundListeners } from './outbound.ts';
import { connectOriginate } from './tunnels.ts';
import { virtualOutbound } from './virtual-outbound.ts';
import { waypointListeners } from './waypoint.ts';

type Listeners = readonly Resource<Listener>[];

/** Sorted by name; of equal names the first counts. */
export const listeners: Query<'', Listeners> = {
  name: 'listener/listeners',
  run: reader => {
    const byName = new Map<string, Resource<Listener>>();
    for (const listener of listenersOf(reader)) if (!byName.has(listener.name)) byName.set(listener.name, listener);
    return [...byName.values()].sort((a, b) => compareText(a.name, b.name));
  },
};

/** Of a sidecar those for what its workload sends, shared by all whose workloads send alike; of others all. */
export const outwardListeners: Query<'', Listeners> = {
  name: 'listener/outwardListeners',
  run: reader => [
    ...patchedAndAdded(reader, isSidecar(reader) ? sidecarOutward(reader) : unpatchedListeners(reader)),
    ...tunnelOpeners(reader),
  ],
};

/** Of a sidecar those for what is sent to its workload; of others all. */
export const inwardListeners: Query<'', Listeners> = {
  name: 'listener/inwardListeners',
  run: reader => patchedAndAdded(reader, isSidecar(reader) ? sidecarInward(reader) : unpatchedListeners(reader)),
};

function listenersOf(reader: ProxyReader): Listeners {
  return [...patchedAndAdded(reader, unpatchedListeners(reader)), ...tunnelOpeners(reader)];
}

/** Of sidecars and gateways, which no patch reaches. */
function tunnelOpeners(reader: ProxyReader): Listeners {
  const type = proxyType(reader);
  if ((type !== 'sidecar' && type !== 'router') || !sendsHbone(reader)) return [];
  return [connectOriginate(reader, type === 'router' ? 'gateway' : 'outbound')];
}

function patchedAndAdded(reader: ProxyReader, unpatched: readonly Unpatched[]): Listeners {
  return unpatched.flatMap(([context, made]) => [
    ...patchedListeners(reader, made, context),
    ...listenersAddedFor(reader, context),
  ]);
}

/** By the context in which they are patched. */
export function unpatchedListeners(reader: ProxyReader): readonly Unpatched[] {
  switch (proxyType(reader)) {
    case 'router':
      return [['GATEWAY', reader.get(gatewayListeners, '')]];
    case 'sidecar':
      return [...sidecarInward(reader), ...sidecarOutward(reader)];
    case 'waypoint':
      return isWaypoint(reader) ? waypointOwn(reader) : [];
    default:
      return [];
  }
}

/** Patches may add listeners for what it sends, of which it has none. */
function waypointOwn(reader: ProxyReader): readonly Unpatched[] {
  return [
    ['SIDECAR_OUTBOUND', []],
    ['SIDECAR_INBOUND', reader.get(waypointListeners, '')],
  ];
}

type Unpatched = readonly [context: PatchContext, made: Listeners];

const isSidecar = (reader: ProxyReader): boolean => proxyType(reader) === 'sidecar';

/** A mesh whose proxies listen on no port for outbound connections configures no sidecar at all. */
const isConfigured = (reader: ProxyReader): boolean => meshPort(reader, 'proxyListenPort') > 0;

function sidecarInward(reader: ProxyReader): readonly Unpatched[] {
  return isConfigured(reader) ? [['SIDECAR_INBOUND', reader.get(inboundListeners, '')]] : [];
}

function sidecarOutward(reader: ProxyReader): readonly Unpatched[] {
  if (!isConfigured(reader)) return [];
  const outbound = [...reader.get(outboundListeners, '')];
  if (interceptionMode(reader) !== 'NONE') outbound.push(virtualOutbound(reader));
  return [['SIDECAR_OUTBOUND', outbound]];
}
