// The hosts of one part of a route configuration (core/select/route/sidecar-virtual-hosts.ts) with their routes, before
// duplicate domains are removed. Nothing here depends on the proxy's namespace, so all namespaces share it, and a
// changed VirtualService is one part of hundreds.

import { blocksOf } from '../../../core/base/groups.ts';
import type { Problem } from '../../../core/base/problem.ts';
import type { Service } from '../../../core/model/service.ts';
import type { ProxyReader, Selection } from '../../../core/query/reader.ts';
import { defaultRouteSelector } from '../../../core/select/route/default-route.ts';
import { sessionOf } from '../../../core/select/route/persistent-session.ts';
import type { DefaultHosts } from '../../../core/select/route/sidecar-virtual-hosts.ts';
import type { VirtualHostWrapper } from '../../../core/select/route/sidecar-wrappers.ts';
import { defaultRoutes } from '../../generate/route/default-route.ts';
import { type Claim, hostClaim, hostClaims } from '../../generate/route/domains.ts';
import type { GeneratedRoutes } from '../../generate/route/virtual-service-routes.ts';
import { routesOfInterned } from './virtual-service-routes.ts';

export interface RoutedHost {
  /** A service, whose domains depend on the proxy, or the claim of a host without a service. */
  readonly of: Service | Claim;
  readonly port: number;
  readonly routes: GeneratedRoutes;
  /** See core/select/route/persistent-session.ts. */
  readonly session: string;
}

export interface RoutedHosts {
  readonly hosts: readonly RoutedHost[];
  readonly problems: readonly Problem[];
}

/** Hosts that a VirtualService takes. */
export const routedHosts: Selection<VirtualHostWrapper, RoutedHosts> = {
  name: 'route/routedHosts',
  run: (reader, { port, hosts: names, services, routes: inputs }) => {
    const routes = routesOfInterned(reader, inputs);
    const ofServices = services.map((of): RoutedHost => ({ of, port, routes, session: sessionOf(reader, of) }));
    if (names.length === 0) return { hosts: ofServices, problems: routes.problems };
    const others = claimsOf(reader, names, port).map((of): RoutedHost => ({ of, port, routes, session: '' }));
    return { hosts: [...others, ...ofServices], problems: routes.problems };
  },
};

/** More hosts have claims that are made, and made anew, together. */
const HOSTS_ALONE_MAX = 1_024;
const HOSTS_TOGETHER = 512;

function claimsOf(reader: ProxyReader, hosts: readonly string[], port: number): readonly Claim[] {
  if (hosts.length <= HOSTS_ALONE_MAX) return hosts.map(host => reader.make(hostClaim, { host, port }));
  return blocksOf(hosts, HOSTS_TOGETHER).flatMap(block => reader.make(hostClaims, { hosts: block, port }));
}

/** Services that no VirtualService takes, all in one run: each costs little and has few reads of its own. */
export const defaultlyRouted: Selection<DefaultHosts, readonly RoutedHost[]> = {
  name: 'route/defaultlyRouted',
  run: (reader, { services, ports }) => {
    const inputsOf = defaultRouteSelector(reader);
    return services.map((service, i): RoutedHost => {
      const port = ports[i]!;
      const routes = reader.make(defaultRoutes, inputsOf(service.hostname, port));
      return { of: service, port, routes, session: sessionOf(reader, service) };
    });
  },
};
