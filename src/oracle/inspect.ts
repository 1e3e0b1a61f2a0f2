// What listener filters find out before a filter chain is chosen: TLS, its server name and protocols, and whether
// plaintext is HTTP. They wait for the client's first bytes: one that waits for the server is stuck unless a timeout
// lets it go on undetected.

import type { Listener, ListenerFilter, ListenerFilterChainMatchPredicate } from '../xds/proto/types.gen.ts';
import type { Connection } from './question.ts';

export interface Detected {
  readonly transportProtocol: 'tls' | 'raw_buffer';
  /** Lower case; '' if none was seen. */
  readonly serverName: string;
  /** In the client's order. */
  readonly applicationProtocols: readonly string[];
  readonly why: string;
}

/** Why a connection gets no further than the listener filters. */
export type Halted = { readonly halted: 'stuck' | 'closed'; readonly why: string };

const TLS_INSPECTOR = 'envoy.filters.listener.tls_inspector';
const HTTP_INSPECTOR = 'envoy.filters.listener.http_inspector';

const ALPN_OF = { '1.0': 'http/1.0', '1.1': 'http/1.1', '2': 'h2c' } as const;

export function inspect(listener: Listener, connection: Connection, port: number): Detected | Halted {
  const filters = (listener.listenerFilters ?? []).filter(filter => !isDisabled(filter, port));
  const has = (name: string): boolean => filters.some(filter => filter.name === name);
  const [seesTls, seesHttp] = [has(TLS_INSPECTOR), has(HTTP_INSPECTOR)];
  if (connection.serverFirst === true && (seesTls || seesHttp)) {
    const halted = waitsForBytes(listener);
    if (halted !== undefined) return halted;
  }
  if (connection.tls !== undefined && seesTls) {
    const { sni = '', alpn = [] } = connection.tls;
    const serverName = sni.toLowerCase();
    return { transportProtocol: 'tls', serverName, applicationProtocols: alpn, why: tlsText(serverName, alpn) };
  }
  const plain = { transportProtocol: 'raw_buffer', serverName: '' } as const;
  if (connection.tls !== undefined) return { ...plain, applicationProtocols: [], why: 'TLS without a TLS inspector' };
  if (connection.http === undefined) return { ...plain, applicationProtocols: [], why: 'plaintext that is not HTTP' };
  if (!seesHttp) return { ...plain, applicationProtocols: [], why: 'HTTP without an HTTP inspector' };
  const protocol = ALPN_OF[connection.http.version ?? '1.1'];
  return { ...plain, applicationProtocols: [protocol], why: `plaintext that is ${protocol}` };
}

function tlsText(serverName: string, alpn: readonly string[]): string {
  return `TLS for ${serverName === '' ? 'no name' : serverName}${alpn.length === 0 ? '' : ` with ${alpn.join(', ')}`}`;
}

/** `listener_filters_timeout`: absent means 15 s, zero means none. */
function waitsForBytes(listener: Listener): Halted | undefined {
  const { listenerFiltersTimeout: timeout, continueOnListenerFiltersTimeout: goesOn } = listener;
  const endless = timeout !== undefined && (timeout.seconds ?? 0) === 0 && (timeout.nanos ?? 0) === 0;
  if (endless) return { halted: 'stuck', why: 'listener filters wait for the client, the client for the server' };
  return goesOn === true ? undefined : { halted: 'closed', why: 'listener filters saw no bytes in time' };
}

function isDisabled(filter: ListenerFilter, port: number): boolean {
  return filter.filterDisabled !== undefined && matches(filter.filterDisabled, port);
}

function matches(predicate: ListenerFilterChainMatchPredicate, port: number): boolean {
  const { orMatch, andMatch, notMatch, anyMatch, destinationPortRange: range } = predicate;
  if (orMatch !== undefined) return (orMatch.rules ?? []).some(rule => matches(rule, port));
  if (andMatch !== undefined) return (andMatch.rules ?? []).every(rule => matches(rule, port));
  if (notMatch !== undefined) return !matches(notMatch, port);
  if (range !== undefined) return port >= (range.start ?? 0) && port < (range.end ?? 0);
  return anyMatch === true;
}
