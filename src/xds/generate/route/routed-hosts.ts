// The hosts of one part of a route configuration (select/sidecar-virtual-hosts.ts) with their routes, before it is known which domains they keep.
// Nothing here depends on where the proxy is, so all namespaces share it, and a VirtualService that changes is one part of hundreds.

import type { Service } from '../../../core/model/service.ts';
import type { Problem } from '../../../core/problem.ts';
import type { ProxyReader, Selection } from '../../../core/reader.ts';
import { hashLookup } from '../../../core/select/consistent-hash.ts';
import { sessionOf } from '../../../core/select/persistent-session.ts';
import type { VirtualHostWrapper } from '../../../core/select/sidecar-virtual-hosts.ts';
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

export const routedHosts: Selection<VirtualHostWrapper, RoutedHosts> = {
  name: 'route/routedHosts',
  run: (reader, wrapper) => {
    const { port } = wrapper;
    const shared = wrapper.routes === undefined ? undefined : reader.make(virtualServiceRoutes, wrapper.routes);
    const hosts: RoutedHost[] = [];
    for (const host of shared === undefined ? [] : wrapper.hosts) {
      hosts.push({ of: reader.make(hostClaim, { host, port }), port, routes: shared!, session: '' });
    }
    for (const service of wrapper.services) {
      const routes = shared ?? serviceRoutes(reader, service.hostname, port);
      hosts.push({ of: service, port, routes, session: sessionOf(reader, service) });
    }
    return { hosts, problems: shared?.problems ?? [] };
  },
};

function serviceRoutes(reader: ProxyReader, hostname: string, port: number): GeneratedRoutes {
  const hash = hashLookup(reader).of(hostname, '', port);
  return reader.make(defaultRoutes, { hostname, port, hash, retry: reader.mesh('defaultHttpRetryPolicy') });
}
