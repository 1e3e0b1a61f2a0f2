// Which listener takes a connection. Interception delivers it to the port of virtualOutbound or virtualInbound; a
// listener with use_original_dst then hands it to the one of its original destination, found by exact address, else by
// the wildcard of its family and port (Envoy's ConnectionHandlerImpl::getBalancedHandlerByAddress and
// ActiveTcpSocket::newConnection). Handing on happens once.

import type { Address, Listener } from '../xds/proto/types.gen.ts';
import { canonical, isIpv6, type Socket, showSocket, socketOf } from './address.ts';
import type { Connection } from './question.ts';
import { step, type Trail } from './trail.ts';

/** Ports to which iptables redirects, as istio-iptables sets them. */
export interface CapturePorts {
  readonly outbound: number;
  readonly inbound: number;
}
export const DEFAULT_CAPTURE: CapturePorts = { outbound: 15_001, inbound: 15_006 };

const ORIGINAL_DST = 'envoy.filters.listener.original_dst';

export interface Taken {
  readonly trail: Trail;
  readonly listener: Listener;
  /** The local address of the connection as filter chains see it. */
  readonly local: Socket;
}

/**
 * The listeners by the addresses that they serve; of two with the same address the first counts, as Envoy refuses the
 * second.
 */
export class Listeners {
  readonly #bound = new Map<string, Listener>();
  readonly #all = new Map<string, Listener>();

  constructor(listeners: readonly Listener[]) {
    for (const listener of listeners) {
      const addresses = [listener.address, ...(listener.additionalAddresses ?? []).map(({ address }) => address)];
      for (const key of addresses.flatMap(keysOf)) {
        if (!this.#all.has(key)) this.#all.set(key, listener);
        if (listener.bindToPort?.value !== false && !this.#bound.has(key)) this.#bound.set(key, listener);
      }
    }
  }

  /** A listener that has a socket of its own there. */
  bound(socket: Socket): Listener | undefined {
    return lookUp(this.#bound, socket);
  }

  /** A listener of that address, with or without a socket. */
  of(socket: Socket): Listener | undefined {
    return lookUp(this.#all, socket);
  }
}

/** An IPv6 wildcard that takes IPv4 too stands under both. */
function keysOf(address: Address | undefined): readonly string[] {
  const socket = socketOf(address);
  if (socket === undefined) return [];
  const own = keyOf(socket);
  const both = address?.socketAddress?.ipv4Compat === true && canonical(socket.address) === '::';
  return both ? [own, keyOf({ address: '0.0.0.0', port: socket.port })] : [own];
}

const keyOf = ({ address, port }: Socket): string => `${canonical(address) ?? address} ${port}`;

function lookUp(map: ReadonlyMap<string, Listener>, socket: Socket): Listener | undefined {
  const wildcard = isIpv6(socket.address) ? '::' : '0.0.0.0';
  return map.get(keyOf(socket)) ?? map.get(keyOf({ address: wildcard, port: socket.port }));
}

/** Undefined: no listener has this address. */
export function take(
  trail: Trail,
  listeners: Listeners,
  connection: Connection,
  capture: CapturePorts,
): Taken | undefined {
  const { arrives, destination } = connection;
  const entry = arrives === 'direct' ? destination : { ...destination, port: capture[arrives] };
  const accepting = arrives === 'direct' ? listeners.bound(entry) : listeners.bound(anyAddress(entry));
  if (accepting === undefined) return undefined;
  const accepted = step(
    trail,
    'listener',
    nameOf(accepting),
    arrives === 'direct' ? `listens on ${showSocket(entry)}` : `takes ${arrives} connections on port ${entry.port}`,
  );
  if (!restores(accepting)) return { trail: accepted, listener: accepting, local: entry };
  if (accepting.useOriginalDst?.value !== true) return { trail: accepted, listener: accepting, local: destination };
  const next = listeners.of(destination);
  if (next === undefined || next === accepting) {
    return { trail: accepted, listener: accepting, local: destination };
  }
  const why = `is the listener of the original destination ${showSocket(destination)}`;
  return { trail: step(accepted, 'listener', nameOf(next), why), listener: next, local: destination };
}

function nameOf(listener: Listener): string {
  const socket = socketOf(listener.address);
  return listener.name ?? (socket === undefined ? '' : showSocket(socket));
}

const anyAddress = ({ address, port }: Socket): Socket => ({ address: isIpv6(address) ? '::' : '0.0.0.0', port });

/**
 * Whether the connection's original destination is known to the listener, rather than the port that it was redirected
 * to.
 */
function restores(listener: Listener): boolean {
  if (listener.useOriginalDst?.value === true || listener.transparent?.value === true) return true;
  return (listener.listenerFilters ?? []).some(filter => filter.name === ORIGINAL_DST);
}
