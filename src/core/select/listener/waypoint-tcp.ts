// Where TCP connections to a port of a service behind a waypoint go.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildWaypointNetworkFilters).

import type { ProxyReader } from '../../query/reader.ts';
import type { DestinationRule, RouteDestination } from '../../schema/istio-types.gen.ts';
import { inboundStatPrefix } from '../cluster/common.ts';
import { waypointCluster, waypointTcpDestinations } from '../route/waypoint-routes.ts';
import { scopeRules } from '../scope/destination-rules.ts';
import { connectionSettings, type TcpRoute } from './tcp-routes.ts';
import type { WaypointChain } from './waypoint.ts';

/** The settings of the connection are those of the rule for the first destination, as in Istio. */
export function waypointTcpRoute(reader: ProxyReader, { name, service, port }: WaypointChain): TcpRoute {
  const routes = waypointTcpDestinations(reader, service, port.port);
  const host = routes[0]?.destination?.host ?? service.hostname;
  const subset = routes.length === 1 ? (routes[0]?.destination?.subset ?? '') : '';
  const rule = reader.get(scopeRules, '').get(host)?.spec as DestinationRule | undefined;
  return {
    ...connectionSettings(reader, rule, subset),
    ...splitOf(reader, routes, name, port.port),
    statPrefix: inboundStatPrefix(reader.mesh('inboundClusterStatName'), name, service.hostname, service, port),
  };
}

/** Without a route the chain's own cluster. */
function splitOf(
  reader: ProxyReader,
  routes: readonly RouteDestination[],
  own: string,
  port: number,
): Pick<TcpRoute, 'clusters' | 'weights'> {
  const clusterOf = ({ destination = {} }: RouteDestination): string => waypointCluster(reader, destination, port);
  if (routes.length === 1) return { clusters: [clusterOf(routes[0]!)], weights: [] };
  const weighted = routes.filter(({ weight = 0 }) => weight > 0);
  if (weighted.length === 0) return { clusters: [own], weights: [] };
  return { clusters: weighted.map(clusterOf), weights: weighted.map(({ weight = 0 }) => weight) };
}
