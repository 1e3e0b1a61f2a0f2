// What only the route configurations of sidecars have: which domains a virtual host keeps on a port, and the one host
// of a sniffed port.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildSidecarOutboundHTTPRouteConfig,
// BuildSidecarOutboundVirtualHosts).

import type { Generator } from '../../../core/query/memo.ts';
import type { VirtualHost } from '../../proto/types.gen.ts';
import type { Kept } from './duplicates.ts';

/** Domain → place of the host that keeps it; a domain has one host. */
export const placesByDomain: Generator<
  { readonly found: { readonly kept: readonly Kept[] } },
  ReadonlyMap<string, number>
> = {
  name: 'route/placesByDomain',
  run: ({ found }) => {
    const places = new Map<string, number>();
    for (const [place, { domains }] of found.kept.entries()) for (const domain of domains) places.set(domain, place);
    return places;
  },
};

/** The places of the domains, ascending, each once. */
export function placesOf(places: ReadonlyMap<string, number>, domains: readonly string[]): readonly number[] {
  const found = domains.flatMap(domain => places.get(domain) ?? []);
  return [...new Set(found)].sort((a, b) => a - b);
}

/**
 * The route configuration of all ports (0) has only domains with a port, except on port 80, which clients leave out.
 */
export function domainsOnPort({ claim, domains }: Kept, port: number): readonly string[] {
  return port === 0 && claim.port !== 80 ? domains.filter(domain => domain.includes(':')) : domains;
}

/** The same host for every domain. */
export const forEveryDomain: Generator<{ readonly only: VirtualHost }, VirtualHost> = {
  name: 'route/forEveryDomain',
  run: ({ only }) => ({ ...only, domains: ['*'] }),
};
