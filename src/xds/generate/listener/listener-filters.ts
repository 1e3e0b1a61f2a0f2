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
  const tls = needsByPort(chains, chain => chain.filterChainMatch?.transportProtocol === 'tls');
  if (tls.some(([, need]) => need)) filters.push({ ...tlsInspector, filterDisabled: tlsDisabled(tls) });
  const http = needsByPort(chains, inspectsHttp);
  if (http.some(([, need]) => need)) filters.push({ ...httpInspector, filterDisabled: disabledWhereUnneeded(http) });
  return filters;
}

function inspectsHttp(chain: FilterChain): boolean {
  const protocols = chain.filterChainMatch?.applicationProtocols ?? [];
  return protocols.includes('http/1.1') || protocols.includes('h2c');
}

type Needs = readonly (readonly [port: number, need: boolean])[];

/**
 * A port needs an inspector if any of its chains does. Port 0 stands for chains of all ports, if there are any.
 * Ascending.
 */
function needsByPort(chains: readonly FilterChain[], needs: (chain: FilterChain) => boolean): Needs {
  const byPort = new Map<number, boolean>();
  for (const chain of chains) {
    const port = chain.filterChainMatch?.destinationPort?.value ?? 0;
    byPort.set(port, (byPort.get(port) ?? false) || needs(chain));
  }
  return [...byPort].sort((a, b) => a[0] - b[0]);
}

function tlsDisabled(needs: Needs): ListenerFilterChainMatchPredicate | undefined {
  const general = needs.some(([port, need]) => port === 0 && need);
  if (general) return disabledWhereUnneeded(needs);
  return { notMatch: onPorts(needs.filter(([, need]) => need).map(([port]) => port)) };
}

function disabledWhereUnneeded(needs: Needs): ListenerFilterChainMatchPredicate | undefined {
  const without = needs.filter(([, need]) => !need).map(([port]) => port);
  return without.length === 0 ? undefined : onPorts(without);
}

export function onPorts(ports: readonly number[]): ListenerFilterChainMatchPredicate {
  const rules = ports.map(port => ({ destinationPortRange: { start: port, end: port + 1 } }));
  return rules.length === 1 ? rules[0]! : { orMatch: { rules } };
}
