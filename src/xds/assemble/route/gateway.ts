// The virtual hosts of a gateway's HTTP servers, sorted by name, without a catch-all: a port that serves no host yet
// answers 404.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayHTTPRouteConfig).

import type { Problem } from '../../../core/base/problem.ts';
import { compareText } from '../../../core/model/object.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { routeHeaderOptions } from '../../../core/select/proxy/proxy-headers.ts';
import type { GatewayVirtualHost } from '../../../core/select/route/collapsed-hosts.ts';
import { gatewayVirtualHosts } from '../../../core/select/route/gateway-virtual-hosts.ts';
import type { VirtualServiceRoutesInputs } from '../../../core/select/route/virtual-service-routes.ts';
import { asDomain } from '../../generate/route/domains.ts';
import { blackHole, joinedRoutes } from '../../generate/route/gateway.ts';
import { virtualHost } from '../../generate/route/virtual-host.ts';
import type { VirtualHost } from '../../proto/types.gen.ts';
import type { MadeVirtualHosts } from './sidecar.ts';
import { routesOfVirtualService } from './virtual-service-routes.ts';

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

interface Made {
  readonly of: GatewayVirtualHost;
  readonly attemptCount: boolean;
  readonly host: VirtualHost;
  readonly problems: readonly Problem[];
}

/**
 * The last virtual host that begins with these routes: after a change all but one of hundreds have identical parts,
 * which this finds without a memo.
 */
const lastHosts = new WeakMap<VirtualServiceRoutesInputs, Made>();

function makeHost(reader: ProxyReader, of: GatewayVirtualHost, problems: Set<Problem>): VirtualHost {
  const { attemptCount } = reader.derived(routeHeaderOptions);
  const [first] = of.routes;
  const last = first === undefined ? undefined : lastHosts.get(first);
  const isSame = last?.attemptCount === attemptCount && sameHost(last.of, of);
  const made = isSame ? last : madeHost(reader, of, attemptCount);
  if (first !== undefined && !isSame) lastHosts.set(first, made);
  for (const found of made.problems) problems.add(found);
  return made.host;
}

function sameHost(a: GatewayVirtualHost, b: GatewayVirtualHost): boolean {
  return (
    a.host === b.host &&
    a.port === b.port &&
    a.requireTls === b.requireTls &&
    a.session === b.session &&
    sameItems(a.domains, b.domains) &&
    sameItems(a.routes, b.routes)
  );
}

function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function madeHost(reader: ProxyReader, of: GatewayVirtualHost, attemptCount: boolean): Made {
  const made = of.routes.map(inputs => routesOfVirtualService(reader, inputs));
  const host = reader.make(virtualHost, {
    name: `${asDomain(of.host)}:${of.port}`,
    // Unlike on sidecars, an IPv6 address stands without brackets.
    domains: of.domains,
    routes: joinedRoutes(made),
    attemptCount,
    requireTls: of.requireTls,
    session: of.session,
  });
  return { of, attemptCount, host, problems: made.flatMap(one => one.problems) };
}
