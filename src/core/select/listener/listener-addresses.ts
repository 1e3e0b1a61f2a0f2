// Addresses that listeners of a proxy bind to, by its IP mode, and ports that it cannot bind.
// Source: Istio pilot/pkg/networking/core/listener_address.go, pilot/pkg/model/context.go (CanBindToPort).

import type { IpMode } from '../../model/proxy.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { metadataFlag, metadataText } from '../proxy/proxy-metadata.ts';

const wildcardsOf: Readonly<Record<IpMode, readonly [string, ...string[]]>> = {
  ipv4: ['0.0.0.0'],
  ipv6: ['::'],
  dual: ['0.0.0.0', '::'],
};
const localhostsOf: Readonly<Record<IpMode, readonly [string, ...string[]]>> = {
  ipv4: ['127.0.0.1'],
  ipv6: ['::1'],
  dual: ['127.0.0.1', '::1'],
};

/** The wildcard addresses; the first one names the listener. */
export function wildcards(reader: ProxyReader): readonly [string, ...string[]] {
  return wildcardsOf[reader.facet('ipMode')];
}

/** The loopback addresses; the first one names the listener. */
export function localhosts(reader: ProxyReader): readonly [string, ...string[]] {
  return localhostsOf[reader.facet('ipMode')];
}

/** Further wildcard addresses of virtual, inbound and gateway listeners: only with ISTIO_DUAL_STACK. */
export function extraWildcards(reader: ProxyReader): readonly string[] {
  return reader.feature('ISTIO_DUAL_STACK') ? wildcards(reader).slice(1) : [];
}

/** The addresses of the proxy itself. */
export function proxyAddresses(reader: ProxyReader): readonly string[] {
  return reader.facet('ips');
}

/** `<bind>_<port>` */
export function listenerName(bind: string, port: number): string {
  return `${bind}_${port}`;
}

/** A port of MeshConfig. */
export function meshPort(
  reader: ProxyReader,
  field: 'proxyListenPort' | 'proxyInboundListenPort' | 'proxyHttpPort',
): number {
  return reader.mesh(field);
}

const PRIVILEGED_PORT_MAX = 1023;

/** True if the proxy may not open the port because it runs without privileges. */
export function isPrivilegedPort(reader: ProxyReader, port: number): boolean {
  return port > 0 && port <= PRIVILEGED_PORT_MAX && metadataFlag(reader, 'UNPRIVILEGED_POD');
}

/**
 * True if the port belongs to the proxy itself: its status and metrics ports and, on request, the two virtual
 * listeners.
 */
export function isReservedPort(reader: ProxyReader, port: number, withVirtual: boolean): boolean {
  if (port === 0) return false;
  if (port === Number(metadataText(reader, 'ENVOY_STATUS_PORT'))) return true;
  if (port === Number(metadataText(reader, 'ENVOY_PROMETHEUS_PORT'))) return true;
  if (!withVirtual) return false;
  return port === meshPort(reader, 'proxyListenPort') || port === meshPort(reader, 'proxyInboundListenPort');
}
