// One question of access: may this caller send this request to this workload, and which rule says so? Answered by the
// oracle on the configuration that the workload's proxy has, so by the same rules that Envoy gets.

import { messageOf } from '../../oracle/any.ts';
import { type Oracle, oracleOf } from '../../oracle/oracle.ts';
import type { Branch, Verdict } from '../../oracle/prediction.ts';
import type { Connection, HttpRequest, ProxyConfig } from '../../oracle/question.ts';
import { CDS, EDS, LDS, RDS } from '../../xds/session/types.ts';
import type { Holdings } from '../holdings.ts';

export interface AccessQuestion {
  /** A SPIFFE URI; undefined: the caller comes without mTLS. */
  readonly identity: string | undefined;
  /** The port of the workload. */
  readonly port: number;
  /** Undefined: bytes that are not HTTP. */
  readonly http: HttpRequest | undefined;
  readonly source?: string;
  readonly authorizer?: Connection['authorizer'];
}

export interface AccessAnswer {
  /** `unknown`: an external authorizer decides, or something that is not modelled. */
  readonly allowed: 'yes' | 'no' | 'unknown';
  /** What decided: the verdict that refuses, or the last one that lets pass; undefined: no policy decides. */
  readonly by: Verdict | undefined;
  readonly why: string;
  /** Verdicts of dry-run policies and external authorization on the way. */
  readonly shadow: readonly Verdict[];
  readonly unmodelled: readonly string[];
  readonly branch: Branch;
}

/** A workload's proxy, ready for questions. */
export interface Gate {
  readonly config: ProxyConfig;
  readonly oracle: Oracle;
  readonly address: string;
  readonly router: boolean;
  /** Ports for which the proxy has chains of their own. */
  readonly ports: readonly number[];
  /** Those of them that take HTTP. */
  readonly httpPorts: readonly number[];
}

const VIRTUAL_INBOUND = 'virtualInbound';
const FALLBACK_PORT = 80;
const HTTP_MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

export function gateOf(holdings: Holdings, address: string, router: boolean): Gate {
  const list = <T>(url: string): readonly T[] =>
    [...(holdings.get(url)?.values() ?? [])].map(({ message }) => message as T);
  const config: ProxyConfig = { listeners: list(LDS), routes: list(RDS), clusters: list(CDS), endpoints: list(EDS) };
  const [ports, httpPorts] = [new Set<number>(), new Set<number>()];
  for (const { name, address: at, filterChains = [] } of config.listeners) {
    if (!router && name !== VIRTUAL_INBOUND) continue;
    for (const chain of filterChains) {
      // The proxy's own port has a chain that refuses everything.
      if (/blackhole/i.test(chain.name ?? '')) continue;
      const port = (router ? at?.socketAddress?.portValue : chain.filterChainMatch?.destinationPort?.value) ?? 0;
      ports.add(port);
      if (chain.filters?.some(({ typedConfig }) => messageOf(HTTP_MANAGER, typedConfig) !== undefined)) {
        httpPorts.add(port);
      }
    }
  }
  const sorted = (found: ReadonlySet<number>): readonly number[] =>
    [...found].filter(port => port !== 0).sort((a, b) => a - b);
  return {
    ...{ config, address, router, ports: sorted(ports), httpPorts: sorted(httpPorts) },
    oracle: oracleOf(config),
  };
}

/** The first port that takes HTTP, if the question is about a request; else the first one. */
export function defaultPort({ ports, httpPorts }: Gate, http: boolean): number {
  return (http ? httpPorts[0] : undefined) ?? ports[0] ?? FALLBACK_PORT;
}

export function askAccess(gate: Gate, question: AccessQuestion): AccessAnswer {
  const { branches } = gate.oracle.predict(connectionOf(gate, question));
  // Ways that chance takes differ behind the policies only.
  const branch = branches[0]!;
  const { outcome, verdicts, unmodelled } = branch;
  const enforced = verdicts.filter(({ shadow }) => !shadow);
  const refusal = enforced.find(({ passes }) => !passes);
  const shadow = verdicts.filter(verdict => verdict.shadow);
  const by = refusal ?? enforced.findLast(({ policy }) => policy !== '');
  const rest = { by, shadow, unmodelled, branch };
  if (outcome.kind === 'unknown' || outcome.kind === 'stuck') return { allowed: 'unknown', why: outcome.why, ...rest };
  if (outcome.kind !== 'forwarded') return { allowed: 'no', why: outcome.why, ...rest };
  const why = by?.why ?? 'no policy applies';
  return { allowed: unmodelled.length > 0 ? 'unknown' : 'yes', why, ...rest };
}

function connectionOf(gate: Gate, { identity, port, http, source, authorizer }: AccessQuestion): Connection {
  const secured = identity !== undefined && (gate.router || endsMeshTls(gate, port));
  const alpn = http === undefined ? ['istio-peer-exchange', 'istio'] : ['istio-http/1.1', 'istio', 'http/1.1'];
  return {
    arrives: gate.router ? 'direct' : 'inbound',
    destination: { address: gate.address, port },
    ...(source === undefined ? {} : { source: { address: source, port: 50_000 } }),
    ...(secured ? { tls: { alpn, certificate: identity, sni: http?.authority } } : {}),
    ...(http === undefined ? {} : { http }),
    ...(authorizer === undefined ? {} : { authorizer }),
  };
}

/** Whether the port's chains take mesh mTLS: to a port that takes none, clients speak plaintext. */
function endsMeshTls({ config }: Gate, port: number): boolean {
  const inbound = config.listeners.find(({ name }) => name === VIRTUAL_INBOUND);
  const chains = inbound?.filterChains ?? [];
  const own = chains.filter(({ filterChainMatch }) => filterChainMatch?.destinationPort?.value === port);
  const serving = own.length > 0 ? own : chains.filter(chain => chain.filterChainMatch?.destinationPort === undefined);
  const type = 'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';
  return serving.some(({ transportSocket }) => messageOf(type, transportSocket?.typedConfig) !== undefined);
}
