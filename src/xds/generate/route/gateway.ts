// What only the route configurations of gateways have: routes of several VirtualServices under one host, and the
// virtual host of an empty port.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayHTTPRouteConfig),
// pilot/pkg/networking/core/route/route.go (SortVHostRoutes).

import type { Generator } from '../../../core/query/memo.ts';
import type { Route, VirtualHost } from '../../proto/types.gen.ts';
import { isCatchAll } from './match.ts';
import type { GeneratedRoutes } from './virtual-service-routes.ts';

/**
 * The routes of VirtualServices that share a host, in their order, those that match everything last: none must hide the
 * routes of the next VirtualService. The routes of a single one are its own list, in which a catch-all is last anyway.
 */
export function joinedRoutes(made: readonly GeneratedRoutes[]): readonly Route[] {
  if (made.length === 1) return made[0]!.routes;
  const routes: Route[] = [];
  const last: Route[] = [];
  for (const one of made) {
    for (const route of one.routes) (isCatchAll(route.match ?? {}) ? last : routes).push(route);
  }
  for (const route of last) routes.push(route);
  return routes;
}

/** A port without hosts: no route, so Envoy answers 404. */
export const blackHole: Generator<{ readonly port: number }, VirtualHost> = {
  name: 'route/blackHole',
  run: ({ port }) => ({ name: `blackhole:${port}`, domains: ['*'] }),
};
