// The route configuration of a gateway's HTTP servers: virtual hosts by name, no catch-all; a port that serves no host yet answers 404.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayHTTPRouteConfig); spec-routes-visibility §12.

import type { Problem } from '../../../core/base/problem.ts';
import { compareText } from '../../../core/model/object.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { routeHeaderOptions } from '../../../core/select/proxy/proxy-headers.ts';
import { type GatewayVirtualHost, gatewayVirtualHosts } from '../../../core/select/route/gateway-virtual-hosts.ts';
import type { Route, VirtualHost } from '../../proto/types.gen.ts';
import { asDomain } from './domains.ts';
import { isCatchAll } from './match.ts';
import type { GeneratedVirtualHosts } from './sidecar.ts';
import { virtualHost } from './virtual-host.ts';
import { virtualServiceRoutes } from './virtual-service-routes.ts';

/** undefined: no server of the proxy's Gateways has a route configuration of this name. */
export function gatewayRoute(reader: ProxyReader, routeName: string): GeneratedVirtualHosts | undefined {
  const selected = reader.get(gatewayVirtualHosts, routeName);
  if (selected === undefined) return undefined;
  const problems = new Set<Problem>();
  const hosts = selected.hosts.map(host => makeHost(reader, host, problems));
  if (hosts.length === 0) hosts.push(reader.make(blackHole, { port: selected.port }));
  hosts.sort((a, b) => compareText(a.name ?? '', b.name ?? ''));
  return { virtualHosts: hosts, problems: [...problems] };
}

function makeHost(reader: ProxyReader, host: GatewayVirtualHost, problems: Set<Problem>): VirtualHost {
  const { attemptCount } = reader.derived(routeHeaderOptions);
  return reader.make(virtualHost, {
    name: `${asDomain(host.host)}:${host.port}`,
    domains: host.domains.map(asDomain),
    routes: routesOf(reader, host, problems),
    attemptCount,
    requireTls: host.requireTls,
    session: host.session,
  });
}

/** VirtualServices that share a host are joined: what matches everything must not hide the routes of the next one. */
function routesOf(reader: ProxyReader, host: GatewayVirtualHost, problems: Set<Problem>): readonly Route[] {
  const routes: Route[] = [];
  const last: Route[] = [];
  for (const inputs of host.routes) {
    const made = reader.make(virtualServiceRoutes, inputs);
    for (const found of made.problems) problems.add(found);
    // Of one VirtualService what matches everything is the last one anyway.
    if (host.routes.length === 1) return made.routes;
    for (const route of made.routes) (isCatchAll(route.match ?? {}) ? last : routes).push(route);
  }
  for (const route of last) routes.push(route);
  return routes;
}

const blackHole: Generator<{ readonly port: number }, VirtualHost> = {
  name: 'route/blackHole',
  run: ({ port }) => ({ name: `blackhole:${port}`, domains: ['*'] }),
};
