// Which virtual host of a route configuration serves an authority: exact domains, then the longest suffix wildcard
// (`*.foo.com`, `*-bar.foo.com`), then the longest prefix wildcard (`foo.*`), then `*`. Case does not matter; a
// wildcard stands for one character at least (Envoy's RouteMatcher::findVirtualHost).

import type { RouteConfiguration, VirtualHost } from '../xds/proto/types.gen.ts';
import { splitAuthority } from './authority.ts';
import type { Headers } from './header-matcher.ts';

export interface ChosenHost {
  readonly host: VirtualHost;
  readonly domain: string;
}

export function chooseVirtualHost(config: RouteConfiguration, headers: Headers): ChosenHost | undefined {
  const named = headers.get((config.vhostHeader || ':authority').toLowerCase()) ?? '';
  if (named === '') return undefined;
  const authority = (config.ignorePortInHostMatching === true ? splitAuthority(named).host : named).toLowerCase();
  let best: (ChosenHost & { readonly rank: number }) | undefined;
  for (const host of config.virtualHosts ?? []) {
    for (const domain of host.domains ?? []) {
      const rank = domainRank(domain.toLowerCase(), authority);
      if (rank !== undefined && (best === undefined || rank > best.rank)) best = { host, domain, rank };
    }
  }
  return best;
}

/** Bases far above any length of a domain, so that kinds of match are compared before lengths. */
const [EXACT, SUFFIX, PREFIX, ANY] = [3_000_000, 2_000_000, 1_000_000, 0];

/** The higher the better; undefined: no match. */
function domainRank(domain: string, authority: string): number | undefined {
  if (domain === authority) return EXACT;
  if (domain === '*') return ANY;
  const fixed = domain.length - 1;
  if (fixed >= authority.length) return undefined;
  if (domain.startsWith('*')) return authority.endsWith(domain.slice(1)) ? SUFFIX + fixed : undefined;
  if (domain.endsWith('*')) return authority.startsWith(domain.slice(0, -1)) ? PREFIX + fixed : undefined;
  return undefined;
}
