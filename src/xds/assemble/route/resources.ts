// Route configurations by name, as proxies request them: selects the virtual hosts, generates each, and wraps them in
// the configuration. Every name is answered: one that means nothing gets an empty configuration, so that its listener
// does not wait for it.
// Source: Istio pilot/pkg/networking/core/httproute.go (BuildHTTPRoutes).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import type { PatchContext } from '../../../core/select/patch/envoy-patch.ts';
import { proxyType } from '../../../core/select/proxy/proxy-type.ts';
import { emptyRoute, type ProblemText, routeConfiguration } from '../../generate/route/route-configuration.ts';
import type { RouteConfiguration } from '../../proto/types.gen.ts';
import { patchedRoutes } from '../patch/routes.ts';
import { gatewayRoute } from './gateway.ts';
import { sidecarRoute } from './sidecar.ts';

/** Argument: the name of a route configuration. undefined: proxies of this type have no routes. */
export const routeNamed: Query<string, Resource<RouteConfiguration> | undefined> = {
  name: 'route/routeNamed',
  run: (reader, name) => {
    const unpatched = unpatchedRoute(reader, name);
    if (unpatched === undefined) return undefined;
    const { route, context } = unpatched;
    return context === undefined ? route : patchedRoute(reader, route, context);
  },
};

export interface UnpatchedRoute {
  readonly route: Route;
  /** undefined: it is not patched. */
  readonly context: PatchContext | undefined;
}

export function unpatchedRoute(reader: ProxyReader, name: string): UnpatchedRoute | undefined {
  const type = proxyType(reader);
  if (type !== 'sidecar' && type !== 'router') return undefined;
  const made = type === 'router' ? gatewayRoute(reader, name) : sidecarRoute(reader, name);
  const context = type === 'router' ? 'GATEWAY' : 'SIDECAR_OUTBOUND';
  if (made === undefined) {
    return { route: reader.make(emptyRoute, { name }), context: context === 'GATEWAY' ? context : undefined };
  }
  const problems = made.problems.map(({ path, message }): ProblemText => [path, message]);
  return { route: reader.make(routeConfiguration, { name, virtualHosts: made.virtualHosts, problems }), context };
}

type Route = Resource<RouteConfiguration>;

/** A sidecar's is sent under the name that a patch gives it, a gateway's under the name that was asked for. */
function patchedRoute(reader: ProxyReader, route: Route, context: PatchContext): Route {
  const { configuration } = patchedRoutes(reader, route.message, context);
  if (configuration === route.message) return route;
  const name = context === 'GATEWAY' ? route.name : (configuration.name ?? '');
  return reader.make(withPatchedMessage, { route, name, message: configuration });
}

const withPatchedMessage: Generator<
  { readonly route: Route; readonly name: string; readonly message: RouteConfiguration },
  Route
> = {
  name: 'route/withPatchedMessage',
  run: ({ route, name, message }) => ({ ...route, name, message }),
};
