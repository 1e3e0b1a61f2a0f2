// The virtual hosts of a gateway's HTTP servers, sorted by name, without a catch-all: a port that serves no host yet
// answers 404.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayHTTPRouteConfig).

import type { Problem } from '../../../core/base/problem.ts';
import { compareText } from '../../../core/model/object.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { routeHeaderOptions } from '../../../core/select/proxy/proxy-headers.ts';
import { type GatewayVirtualHost, gatewayVirtualHosts } from '../../../core/select/route/gateway-virtual-hosts.ts';
import { asDomain } from '../../generate/route/domains.ts';
import { blackHole, joinedRoutes } from '../../generate/route/gateway.ts';
import { virtualHost } from '../../generate/route/virtual-host.ts';
import { virtualServiceRoutes } from '../../generate/route/virtual-service-routes.ts';
import type { VirtualHost } from '../../proto/types.gen.ts';
import type { MadeVirtualHosts } from './sidecar.ts';

/** undefined: no server of the proxy's Gateways has a route configuration of this name. */
export function gatewayRoute(reader: ProxyReader, routeName: string): MadeVirtualHosts | undefined {
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
  const made = host.routes.map(inputs => reader.make(virtualServiceRoutes, inputs));
  for (const one of made) for (const found of one.problems) problems.add(found);
  return reader.make(virtualHost, {
    name: `${asDomain(host.host)}:${host.port}`,
    domains: host.domains.map(asDomain),
    routes: joinedRoutes(made),
    attemptCount,
    requireTls: host.requireTls,
    session: host.session,
  });
}
