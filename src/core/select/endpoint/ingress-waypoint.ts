// The endpoints of a gateway's cluster whose service asks that traffic from gateways takes its waypoint: those of the
// waypoint, each with the address of the service that the tunnel to it asks for.
// Source: Istio pilot/pkg/xds/endpoints/endpoint_builder.go (findServiceWaypoint, buildEnvoyLbEndpoint).

import { type Port, portNumbered, type Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { boundLabels } from '../ambient/behind-waypoint.ts';
import { HBONE_PORT, ingressUsesWaypoint, waypointOf } from '../ambient/waypoints.ts';
import { NO_ADDRESS } from '../nametable/service-addresses.ts';
import { opensTunnels } from '../proxy/hbone.ts';
import { proxyType } from '../proxy/proxy-type.ts';
import { scopeService } from '../scope/sidecar-scope.ts';

export interface WaypointTarget {
  /** Of the waypoint. */
  readonly service: Service;
  readonly port: Port;
}

/** Undefined: the service's own endpoints are taken. */
export function ingressWaypoint(reader: ProxyReader, service: Service): WaypointTarget | undefined {
  if (proxyType(reader) !== 'router' || !opensTunnels(reader)) return undefined;
  if (!reader.feature('ENABLE_INGRESS_WAYPOINT_ROUTING') || !hasAddress(reader, service)) return undefined;
  const labels = boundLabels(reader, service);
  if (labels === undefined) return undefined;
  const bound = { namespace: service.namespace, labels };
  const address = waypointOf(reader, bound, 'service').waypoint?.address;
  if (address === undefined || !('hostname' in address) || ingressUsesWaypoint(reader, bound) !== true)
    return undefined;
  const waypoint = reader.get(scopeService, address.hostname);
  const port = waypoint && portNumbered(waypoint, HBONE_PORT);
  return waypoint === undefined || port === undefined ? undefined : { service: waypoint, port };
}

/** The address of the service in the cluster of the endpoint that its traffic takes. */
export function targetIn({ clusterVips, defaultAddress }: Service, cluster: string, port: number): string {
  const address = clusterVips[cluster]?.[0] ?? defaultAddress;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** A waypoint takes traffic to addresses alone. */
function hasAddress(reader: ProxyReader, service: Service): boolean {
  const vips = service.clusterVips[reader.facet('clusterId')] ?? [];
  const allocated = service.autoAllocatedV4 !== undefined || service.autoAllocatedV6 !== undefined;
  return vips.length > 0 || allocated || service.defaultAddress !== NO_ADDRESS;
}
