// Filter chains of which no two match alike: Envoy refuses a listener that has such, and with it the whole port. Servers whose hosts differ in
// their namespaces only have the same names on the wire; the first one keeps them.

import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import type { FilterChain } from '../../proto/types.gen.ts';

export interface DistinctChains {
  readonly chains: readonly FilterChain[];
  /** Names that a later chain had to do without; '' stands for any name. */
  readonly lost: readonly string[];
}

/** For chains that match by server names and application protocols. Those that nobody disputes keep their identity. */
export function distinctChains(reader: ProxyReader, chains: readonly FilterChain[]): DistinctChains {
  const taken = new Set<string>();
  const lost = new Set<string>();
  const kept = chains.flatMap(chain => {
    const { serverNames = [], applicationProtocols = [] } = chain.filterChainMatch ?? {};
    const protocols = applicationProtocols.join(',');
    const names = serverNames.length === 0 ? [''] : serverNames;
    const own = names.filter(name => !taken.has(`${protocols}|${name}`));
    for (const name of names) if (!own.includes(name)) lost.add(name);
    for (const name of own) taken.add(`${protocols}|${name}`);
    if (own.length === names.length) return [chain];
    return own.length === 0 ? [] : [reader.make(narrowedChain, { chain, serverNames: own })];
  });
  return { chains: kept, lost: [...lost] };
}

const narrowedChain: Generator<{ readonly chain: FilterChain; readonly serverNames: readonly string[] }, FilterChain> =
  {
    name: 'listener/narrowedChain',
    run: ({ chain, serverNames }) => ({
      ...chain,
      filterChainMatch: { ...chain.filterChainMatch, serverNames },
    }),
  };
