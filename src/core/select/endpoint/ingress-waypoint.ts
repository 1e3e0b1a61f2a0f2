// The endpoints of a gateway's cluster whose service asks that traffic from gateways takes its waypoint: those of the
// waypoint, each with the address of the service that the tunnel to it asks for.
// Source: Istio pilot/pkg/xds/endpoints/endpoint_builder.go (findServiceWaypoint, buildEnvoyLbEndpoint).

import { type Port, portNumbered, type Service } from '../../model/service.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { boundLabels } from '../ambient/behind-waypoint.ts';
import { ambientServices } from '../ambient/services.ts';
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

/** The hostname of the waypoint that the service asks for; undefined: its own endpoints are taken. */
export function ingressWaypoint(reader: ProxyReader, service: Service): string | undefined {
  if (proxyType(reader) !== 'router' || !opensTunnels(reader)) return undefined;
  if (!reader.feature('ENABLE_INGRESS_WAYPOINT_ROUTING') || !hasAddress(reader, service)) return undefined;
  const labels = boundLabels(reader, service);
  if (labels === undefined) return undefined;
  const bound = { namespace: service.namespace, labels };
  const address = waypointOf(reader, bound, 'service').waypoint?.address;
  if (address === undefined || ingressUsesWaypoint(reader, bound) !== true) return undefined;
  return 'hostname' in address ? address.hostname : reader.get(hostAtAddress, address);
}

/** The host of the service that has the address; undefined: none. */
const hostAtAddress: Query<{ readonly network: string; readonly ip: string }, string | undefined> = {
  name: 'select/hostAtAddress',
  key: ({ network, ip }) => `${network}/${ip}`,
  run: (reader, { network, ip }) =>
    reader
      .get(ambientServices, '')
      .find(service => service.network === network && service.addresses.some(one => one.ip === ip))?.hostname,
};

/** Undefined: the gateway does not know the waypoint. Its policies are not bypassed: nothing takes the requests. */
export function waypointTarget(reader: ProxyReader, hostname: string): WaypointTarget | undefined {
  const service = reader.get(scopeService, hostname);
  const port = service && portNumbered(service, HBONE_PORT);
  return service === undefined || port === undefined ? undefined : { service, port };
}

/** The address of the service in the cluster of the endpoint that its traffic takes. */
export function targetIn({ clusterVips, defaultAddress }: Service, cluster: string, port: number): string {
  const address = clusterVips[cluster]?.[0] ?? defaultAddress;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** A waypoint takes traffic to addresses alone. */
function hasAddress(reader: ProxyReader, service: Service): boolean {
  const { defaultAddress, clusterVips, autoAllocatedV4, autoAllocatedV6 } = service;
  if (defaultAddress !== NO_ADDRESS) return true;
  const own = clusterVips[reader.facet('clusterId')] ?? [];
  return [...own, autoAllocatedV4, autoAllocatedV6].some(address => address !== undefined);
}
