// The hosts of one part of a route configuration (select/sidecar-virtual-hosts.ts) with their routes, before it is known which domains they keep.
// Nothing here depends on where the proxy is, so all namespaces share it, and a VirtualService that changes is one part of hundreds.

import type { Problem } from '../../../core/base/problem.ts';
import type { Service } from '../../../core/model/service.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Selection } from '../../../core/query/reader.ts';
import { hashLookup } from '../../../core/select/route/consistent-hash.ts';
import { sessionOf } from '../../../core/select/route/persistent-session.ts';
import type { VirtualServiceRoutesInputs } from '../../../core/select/route/route-inputs.ts';
import type { DefaultHosts, VirtualHostWrapper } from '../../../core/select/route/sidecar-virtual-hosts.ts';
import { defaultRoutes } from './default-route.ts';
import { type Claim, hostClaim } from './domains.ts';
import { type GeneratedRoutes, virtualServiceRoutes } from './virtual-service-routes.ts';

export interface RoutedHost {
  /** A service, whose domains depend on who asks, or what another host claims. */
  readonly of: Service | Claim;
  readonly port: number;
  readonly routes: GeneratedRoutes;
  /** See select/persistent-session.ts. */
  readonly session: string;
}

export interface RoutedHosts {
  readonly hosts: readonly RoutedHost[];
  readonly problems: readonly Problem[];
}

/** Of those that a VirtualService takes. */
export const routedHosts: Selection<VirtualHostWrapper, RoutedHosts> = {
  name: 'route/routedHosts',
  run: (reader, { port, hosts: names, services, routes: inputs }) => {
    const routes = reader.make(routesOf, { inputs });
    const ofServices = services.map((of): RoutedHost => ({ of, port, routes, session: sessionOf(reader, of) }));
    if (names.length === 0) return { hosts: ofServices, problems: routes.problems };
    const others = names.map((host): RoutedHost => {
      return { of: reader.make(hostClaim, { host, port }), port, routes, session: '' };
    });
    return { hosts: [...others, ...ofServices], problems: routes.problems };
  },
};

/** Found by their identity: equal inputs of sidecars are one object already (select/sidecar-virtual-hosts.ts). */
const routesOf: Generator<{ readonly inputs: VirtualServiceRoutesInputs }, GeneratedRoutes> = {
  name: 'route/routesOf',
  run: ({ inputs }) => virtualServiceRoutes.run(inputs),
};

/** Of the other services: in one run, as there is little to do for each and hardly anything to look at. */
export const defaultlyRouted: Selection<DefaultHosts, readonly RoutedHost[]> = {
  name: 'route/defaultlyRouted',
  run: (reader, { services, ports }) => {
    const hashes = hashLookup(reader);
    const retry = reader.mesh('defaultHttpRetryPolicy');
    return services.map((service, i): RoutedHost => {
      const { hostname } = service;
      const port = ports[i]!;
      const routes = reader.make(defaultRoutes, { hostname, port, hash: hashes.of(hostname, '', port), retry });
      return { of: service, port, routes, session: sessionOf(reader, service) };
    });
  },
};
