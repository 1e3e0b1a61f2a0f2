// Where TCP connections to what is behind a waypoint go: to a port of a service, or to a workload.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildWaypointNetworkFilters).

import type { ProxyReader } from '../../query/reader.ts';
import type { DestinationRule, RouteDestination } from '../../schema/istio-types.gen.ts';
import { ENCAP_CLUSTER } from '../cluster/cluster-names.ts';
import { waypointStatPrefix } from '../cluster/common.ts';
import { waypointCluster, waypointTcpDestinations } from '../route/waypoint-routes.ts';
import { scopeRules } from '../scope/destination-rules.ts';
import { connectionSettings, plainTcpRoute, type TcpRoute } from './tcp-routes.ts';
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
    statPrefix: waypointStatPrefix(reader.mesh('inboundClusterStatName'), name, service, port),
  };
}

/** To workloads. */
export function directTcpRoute(reader: ProxyReader): TcpRoute {
  const port = { port: 0, name: 'unknown' };
  const statPrefix = waypointStatPrefix(reader.mesh('inboundClusterStatName'), ENCAP_CLUSTER, undefined, port);
  return { ...plainTcpRoute(reader, ENCAP_CLUSTER), statPrefix };
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
