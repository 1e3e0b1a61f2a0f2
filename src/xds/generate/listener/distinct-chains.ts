// Removes names from filter chains until no two match the same: Envoy refuses a listener with such chains, and with it
// the whole port. Servers whose hosts differ only in their namespaces have the same names on the wire; the first one
// keeps them.

import type { Generator } from '../../../core/query/memo.ts';
import type { FilterChain } from '../../proto/types.gen.ts';

export interface DistinctChains {
  readonly chains: readonly FilterChain[];
  /** Names that a later chain lost; '' stands for any name. */
  readonly lost: readonly string[];
}

/**
 * For chains that match by server names and application protocols. Chains without a conflict keep their identity;
 * `narrow` makes the others.
 */
export function distinctChains(
  chains: readonly FilterChain[],
  narrow: (chain: FilterChain, serverNames: readonly string[]) => FilterChain,
): DistinctChains {
  const taken = new Set<string>();
  const lost = new Set<string>();
  const kept = chains.flatMap(chain => {
    const { serverNames = [], applicationProtocols = [] } = chain.filterChainMatch ?? {};
    const protocols = applicationProtocols.join(',');
    const names = serverNames.length === 0 ? [''] : serverNames;
    const isTaken = (name: string): boolean => taken.has(`${protocols}|${name}`);
    const own = names.filter(name => !isTaken(name));
    for (const name of names) if (isTaken(name)) lost.add(name);
    for (const name of own) taken.add(`${protocols}|${name}`);
    if (own.length === names.length) return [chain];
    return own.length === 0 ? [] : [narrow(chain, own)];
  });
  return { chains: kept, lost: [...lost] };
}

export const narrowedChain: Generator<
  { readonly chain: FilterChain; readonly serverNames: readonly string[] },
  FilterChain
> = {
  name: 'listener/narrowedChain',
  run: ({ chain, serverNames }) => ({
    ...chain,
    filterChainMatch: { ...chain.filterChainMatch, serverNames },
  }),
};
