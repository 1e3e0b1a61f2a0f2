// The operation name of a route's trace spans: `<host>:<port><path>`.
// Source: Istio pilot/pkg/networking/core/route/route.go (GetRouteOperation).

import { parseClusterName } from '../../../core/select/cluster/cluster-names.ts';
import type { Decorator, RouteAction, RouteMatch } from '../../proto/types.gen.ts';

/**
 * The prefix of the operations of a rule's routes: named after the only cluster of the route, else after the
 * VirtualService (`owner`).
 */
export function operationPlace(action: RouteAction | undefined, owner: string, port: number): string {
  const cluster = action?.cluster === undefined ? undefined : parseClusterName(action.cluster);
  return cluster === undefined ? `${owner}:${port}` : `${cluster.hostname}:${cluster.port}`;
}

export function routeDecorator(match: RouteMatch, place: string): Decorator {
  return { operation: place + pathText(match) };
}

function pathText(match: RouteMatch): string {
  if (match.prefix !== undefined) return `${match.prefix}*`;
  return match.path ?? match.safeRegex?.regex ?? '/*';
}
