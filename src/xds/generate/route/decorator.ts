// The operation name of a route's trace spans: `<host>:<port><path>`.
// Source: Istio pilot/pkg/networking/core/route/route.go (GetRouteOperation); spec-routes-visibility §10.2.

import { parseClusterName } from '../../../core/select/cluster-names.ts';
import type { Decorator, RouteAction, RouteMatch } from '../../proto/types.gen.ts';

/** Named after the only cluster of the route, else after the VirtualService (`owner`). */
export function routeDecorator(
  match: RouteMatch,
  action: RouteAction | undefined,
  owner: string,
  port: number,
): Decorator {
  const cluster = action?.cluster === undefined ? undefined : parseClusterName(action.cluster);
  const place = cluster === undefined ? `${owner}:${port}` : `${cluster.hostname}:${cluster.port}`;
  return { operation: place + pathText(match) };
}

function pathText(match: RouteMatch): string {
  if (match.prefix !== undefined) return `${match.prefix}*`;
  return match.path ?? match.safeRegex?.regex ?? '/*';
}
