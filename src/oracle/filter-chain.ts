// Which filter chain of a listener serves a connection. Envoy asks nine criteria in a fixed order; each keeps the
// chains with the most specific answer, and there is no way back: a chain that would match as a whole is not found if
// an earlier criterion preferred another (FilterChainManagerImpl::findFilterChain; the order is documented at
// envoy.config.listener.v3.FilterChainMatch).

import { type FilterChain, FilterChainMatch_ConnectionSourceType, type Listener } from '../xds/proto/types.gen.ts';
import { isLoopback, longestPrefix, type Socket, sameAddress, showSocket } from './address.ts';
import type { Detected } from './inspect.ts';

/** The properties of a connection that chains match. */
export interface Seen {
  readonly local: Socket;
  readonly remote: Socket;
  readonly detected: Detected;
}

export interface ChosenChain {
  readonly chain: FilterChain | undefined;
  readonly name: string;
  readonly why: string;
  readonly passedOver: readonly string[];
  /** Another chain that matches just as well: Envoy refuses such a listener. */
  readonly twin?: string;
}

/**
 * `rank`: how specifically a chain matches, from 0 (no such condition) upwards; undefined: it does not match.
 * Chains with equal rank list the same value.
 */
interface Criterion {
  readonly about: string;
  readonly rank: (chain: FilterChain, seen: Seen) => number | undefined;
}

const criteria: readonly Criterion[] = [
  {
    about: 'destination port',
    rank: (chain, { local }) => equalOrAny(chain.filterChainMatch?.destinationPort?.value, local.port),
  },
  {
    about: 'destination address',
    rank: (chain, { local }) => longestPrefix(chain.filterChainMatch?.prefixRanges, local.address),
  },
  {
    about: 'server name',
    rank: (chain, { detected }) => serverNameRank(chain.filterChainMatch?.serverNames, detected.serverName),
  },
  {
    about: 'transport protocol',
    rank: (chain, { detected }) =>
      equalOrAny(chain.filterChainMatch?.transportProtocol || undefined, detected.transportProtocol),
  },
  {
    about: 'application protocol',
    rank: (chain, { detected }) =>
      protocolRank(chain.filterChainMatch?.applicationProtocols, detected.applicationProtocols),
  },
  {
    about: 'direct source address',
    rank: (chain, { remote }) => longestPrefix(chain.filterChainMatch?.directSourcePrefixRanges, remote.address),
  },
  { about: 'source type', rank: (chain, seen) => sourceTypeRank(chain, seen) },
  {
    about: 'source address',
    rank: (chain, { remote }) => longestPrefix(chain.filterChainMatch?.sourcePrefixRanges, remote.address),
  },
  {
    about: 'source port',
    rank: (chain, { remote }) => {
      const ports = chain.filterChainMatch?.sourcePorts ?? [];
      return ports.length === 0 ? 0 : ports.includes(remote.port) ? 1 : undefined;
    },
  },
];

export function chooseChain(listener: Listener, seen: Seen): ChosenChain {
  let left = (listener.filterChains ?? []).map((chain, i) => ({ chain, name: chainName(chain, i) }));
  const passedOver: string[] = [];
  for (const criterion of criteria) {
    const ranked = left.map(candidate => ({ candidate, rank: criterion.rank(candidate.chain, seen) }));
    const best = Math.max(-1, ...ranked.map(({ rank }) => rank ?? -1));
    for (const { candidate, rank } of ranked) {
      if (rank === undefined) passedOver.push(`${candidate.name}: other ${criterion.about}`);
      else if (rank < best) passedOver.push(`${candidate.name}: less specific ${criterion.about}`);
    }
    left = ranked.flatMap(({ candidate, rank }) => (rank === best ? [candidate] : []));
  }
  const [first, second] = left;
  if (first !== undefined) {
    const why = `matches ${showSocket(seen.local)} from ${showSocket(seen.remote)}, ${seen.detected.why}`;
    return { ...first, why, passedOver, twin: second?.name };
  }
  const fallback = listener.defaultFilterChain;
  if (fallback === undefined) return { chain: undefined, name: '', why: 'no filter chain matches', passedOver };
  return { chain: fallback, name: fallback.name ?? 'default', why: 'is the default, none matched', passedOver };
}

const chainName = (chain: FilterChain, position: number): string => chain.name || `#${position}`;

function equalOrAny<T>(wanted: T | undefined, got: T): number | undefined {
  if (wanted === undefined) return 0;
  return wanted === got ? 1 : undefined;
}

/** Exact names before wildcards, longer wildcards before shorter ones. A wildcard stands for one label or more. */
function serverNameRank(names: readonly string[] | undefined, serverName: string): number | undefined {
  if (names === undefined || names.length === 0) return 0;
  let best: number | undefined;
  for (const name of names) {
    const rank = nameRank(name.toLowerCase(), serverName);
    if (rank !== undefined && (best === undefined || rank > best)) best = rank;
  }
  return best;
}

function nameRank(name: string, serverName: string): number | undefined {
  if (name === serverName) return Number.MAX_SAFE_INTEGER;
  if (!name.startsWith('*.')) return undefined;
  const suffix = name.slice(1);
  return serverName.length > suffix.length && serverName.endsWith(suffix) ? suffix.length : undefined;
}

/** The client's first protocol that any chain lists decides. */
function protocolRank(listed: readonly string[] | undefined, offered: readonly string[]): number | undefined {
  if (listed === undefined || listed.length === 0) return 0;
  const position = offered.findIndex(protocol => listed.includes(protocol));
  return position === -1 ? undefined : offered.length - position;
}

function sourceTypeRank(chain: FilterChain, { local, remote }: Seen): number | undefined {
  const wanted = chain.filterChainMatch?.sourceType ?? FilterChainMatch_ConnectionSourceType.ANY;
  if (wanted === FilterChainMatch_ConnectionSourceType.ANY) return 0;
  const isLocal = isLoopback(remote.address) || sameAddress(remote.address, local.address);
  return isLocal === (wanted === FilterChainMatch_ConnectionSourceType.SAME_IP_OR_LOOPBACK) ? 1 : undefined;
}
