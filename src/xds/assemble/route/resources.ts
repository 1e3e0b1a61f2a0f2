// Route configurations by name, as proxies request them: selects the virtual hosts, generates each, and wraps them in
// the configuration. Every name is answered: one that means nothing gets an empty configuration, so that its listener
// does not wait for it.
// Source: Istio pilot/pkg/networking/core/httproute.go (BuildHTTPRoutes).

import type { Resource } from '../../../core/model/resource.ts';
import type { Query } from '../../../core/query/reader.ts';
import { proxyType } from '../../../core/select/proxy/proxy-type.ts';
import { emptyRoute, type ProblemText, routeConfiguration } from '../../generate/route/route-configuration.ts';
import type { RouteConfiguration } from '../../proto/types.gen.ts';
import { gatewayRoute } from './gateway.ts';
import { sidecarRoute } from './sidecar.ts';

/** Argument: the name of a route configuration. undefined: proxies of this type have no routes. */
export const routeNamed: Query<string, Resource<RouteConfiguration> | undefined> = {
  name: 'route/routeNamed',
  run: (reader, name) => {
    const type = proxyType(reader);
    if (type !== 'sidecar' && type !== 'router') return undefined;
    const made = type === 'router' ? gatewayRoute(reader, name) : sidecarRoute(reader, name);
    if (made === undefined) return reader.make(emptyRoute, { name });
    const problems = made.problems.map(({ path, message }): ProblemText => [path, message]);
    return reader.make(routeConfiguration, { name, virtualHosts: made.virtualHosts, problems });
  },
};
