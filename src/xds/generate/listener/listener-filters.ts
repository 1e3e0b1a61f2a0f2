// Listener filters: they determine the original destination and the protocol of a connection before a filter chain is
// chosen.
// Source: Istio pilot/pkg/networking/core/listener_inbound.go.
//
// Inspecting costs time and can wait for bytes that a server-first protocol never sends. On inbound listeners the
// inspectors are therefore switched off for the ports whose chains do not need them.

import { any } from '../../proto/any.ts';
import type { FilterChain, ListenerFilter, ListenerFilterChainMatchPredicate } from '../../proto/types.gen.ts';

export const originalDestination: ListenerFilter = {
  name: 'envoy.filters.listener.original_dst',
  typedConfig: any('envoy.extensions.filters.listener.original_dst.v3.OriginalDst', {}),
};

/** The mark by which the routing rules of TPROXY know connections that keep the client's address. */
const TPROXY_MARK = 1337;
export const originalSource: ListenerFilter = {
  name: 'envoy.filters.listener.original_src',
  typedConfig: any('envoy.extensions.filters.listener.original_src.v3.OriginalSrc', { mark: TPROXY_MARK }),
};

/** A small first read is enough for most client hellos and saves memory for each connection. */
const TLS_INSPECTOR_BUFFER = 512;
export const tlsInspector: ListenerFilter = {
  name: 'envoy.filters.listener.tls_inspector',
  typedConfig: any('envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector', {
    initialReadBufferSize: { value: TLS_INSPECTOR_BUFFER },
  }),
};

export const httpInspector: ListenerFilter = {
  name: 'envoy.filters.listener.http_inspector',
  typedConfig: any('envoy.extensions.filters.listener.http_inspector.v3.HttpInspector', {}),
};

export const proxyProtocol: ListenerFilter = {
  name: 'envoy.filters.listener.proxy_protocol',
  typedConfig: any('envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol', {}),
};

/** The inspectors that an inbound listener with these chains needs, each only for the ports that need it. */
export function inboundInspectors(chains: readonly FilterChain[]): readonly ListenerFilter[] {
  const filters: ListenerFilter[] = [];
  const needs = needsByPort(chains);
  const tls = portsByNeed(needs, NEEDS_TLS);
  if (tls.needed.length > 0) filters.push({ ...tlsInspector, filterDisabled: tlsDisabled(tls) });
  const http = portsByNeed(needs, NEEDS_HTTP);
  if (http.needed.length > 0) filters.push({ ...httpInspector, filterDisabled: disabledWhereUnneeded(http) });
  return filters;
}

const NEEDS_TLS = 1;
const NEEDS_HTTP = 2;

function inspectsHttp(chain: FilterChain): boolean {
  const protocols = chain.filterChainMatch?.applicationProtocols ?? [];
  return protocols.includes('http/1.1') || protocols.includes('h2c');
}

/**
 * The inspectors that any chain of a port needs, as bits. Port 0 stands for chains of all ports, if there are any.
 */
function needsByPort(chains: readonly FilterChain[]): ReadonlyMap<number, number> {
  const byPort = new Map<number, number>();
  let last = Number.NaN;
  let known = 0;
  for (const chain of chains) {
    const match = chain.filterChainMatch;
    const port = match?.destinationPort?.value ?? 0;
    const needs = (match?.transportProtocol === 'tls' ? NEEDS_TLS : 0) | (inspectsHttp(chain) ? NEEDS_HTTP : 0);
    // Chains of one port stand together.
    if (port === last && (known | needs) === known) continue;
    known = (byPort.get(port) ?? 0) | needs;
    byPort.set(port, known);
    last = port;
  }
  return byPort;
}

/** Each ascending. */
interface PortsByNeed {
  readonly needed: readonly number[];
  readonly unneeded: readonly number[];
}

function portsByNeed(needs: ReadonlyMap<number, number>, inspector: number): PortsByNeed {
  const needed: number[] = [];
  const unneeded: number[] = [];
  for (const [port, all] of needs) ((all & inspector) === 0 ? unneeded : needed).push(port);
  return { needed: needed.sort((a, b) => a - b), unneeded: unneeded.sort((a, b) => a - b) };
}

function tlsDisabled(ports: PortsByNeed): ListenerFilterChainMatchPredicate | undefined {
  const general = ports.needed[0] === 0;
  return general ? disabledWhereUnneeded(ports) : { notMatch: onPorts(ports.needed) };
}

function disabledWhereUnneeded({ unneeded }: PortsByNeed): ListenerFilterChainMatchPredicate | undefined {
  return unneeded.length === 0 ? undefined : onPorts(unneeded);
}

export function onPorts(ports: readonly number[]): ListenerFilterChainMatchPredicate {
  const rules = ports.map(port => ({ destinationPortRange: { start: port, end: port + 1 } }));
  return rules.length === 1 ? rules[0]! : { orMatch: { rules } };
}
