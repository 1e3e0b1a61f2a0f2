// Which routes a waypoint has for a port of a service behind it: those of the VirtualServices of the service's or of
// the waypoint's namespace, joined; and where their destinations lead.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildWaypointInboundHTTPRouteConfig,
// getWaypointDestinationCluster, getWaypointTCPRoutes).

import { type Port, portNumbered, type Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import type {
  Destination,
  L4MatchAttributes,
  RouteDestination,
  TLSMatchAttributes,
} from '../../schema/istio-types.gen.ts';
import { serviceBehind } from '../ambient/behind-waypoint.ts';
import { outboundClusterName, UNKNOWN_SERVICE, vipClusterName } from '../cluster/cluster-names.ts';
import { vipProtocolOf } from '../cluster/waypoint.ts';
import { boundVirtualServices } from '../gateway/bound-virtual-services.ts';
import { scopeService } from '../scope/sidecar-scope.ts';
import type { ResolvedVirtualService } from '../scope/virtual-services.ts';
import { type VirtualServiceRoutesInputs, virtualServiceRoutesInputs } from './virtual-service-routes.ts';

const MESH = 'mesh';

/** The VirtualServices about the service, in the order of the scope. */
function virtualServicesAbout(reader: ProxyReader, service: Service): readonly ResolvedVirtualService[] {
  const namespaces = [reader.facet('namespace'), service.namespace];
  // A wildcard service is also that of the names which it covers.
  const about = reader.get(boundVirtualServices, MESH).meeting([service.hostname]);
  return about.filter(({ namespace }) => namespaces.includes(namespace));
}

/** Empty: the service has a default route. */
export function waypointRoutes(
  reader: ProxyReader,
  service: Service,
  { port }: Port,
): readonly VirtualServiceRoutesInputs[] {
  return virtualServicesAbout(reader, service).flatMap(virtualService => {
    const inputs = virtualServiceRoutesInputs(reader, virtualService, {
      gateway: MESH,
      port,
      https: false,
      http3: false,
      infer: host => ({ clusterHost: host, port }),
      service: host => reader.get(scopeService, host),
      clusterOf: destination => waypointCluster(reader, destination, port),
    });
    return inputs === undefined ? [] : [inputs];
  });
}

/** A destination behind the waypoint, or unknown, is reached as the waypoint's own; others as services of the mesh. */
export function waypointCluster(reader: ProxyReader, destination: Destination, listenerPort: number): string {
  const { host = '', subset = '' } = destination;
  if (host === '') return UNKNOWN_SERVICE;
  const service = reader.get(scopeService, host);
  const only = service?.ports.length === 1 ? service.ports[0]!.port : listenerPort;
  const port = destination.port === undefined ? only : (destination.port.number ?? 0);
  if (service !== undefined && reader.get(serviceBehind, service.hostname) === undefined) {
    return outboundClusterName(host, subset, port);
  }
  return vipClusterName(host, vipProtocolOf(service && portNumbered(service, port)), subset, port);
}

/** The destinations of connections to a port: of the first TLS rule that fits, else of the first TCP rule. */
export function waypointTcpDestinations(
  reader: ProxyReader,
  service: Service,
  port: number,
): readonly RouteDestination[] {
  const about = virtualServicesAbout(reader, service);
  for (const { spec } of about) {
    for (const { match = [], route } of spec.tls ?? []) {
      if (match.length === 0 || match.some(one => fitsTls(one, service.hostname, port))) return route ?? [];
    }
  }
  for (const { spec } of about) {
    for (const { match = [], route } of spec.tcp ?? []) {
      if (match.length === 0 || match.some(one => fits(one, port))) return route ?? [];
    }
  }
  return [];
}

/** A waypoint does not read server names: only the service's own may stand there. */
function fitsTls(match: TLSMatchAttributes, hostname: string, port: number): boolean {
  const hosts = match.sniHosts ?? [];
  return hosts.length === 1 && hosts[0] === hostname && fits(match, port);
}

/** Who the client is does not count: rules about its labels or namespace fit no connection. */
function fits(match: L4MatchAttributes | TLSMatchAttributes, port: number): boolean {
  const { gateways = [], sourceLabels = {}, sourceNamespace = '' } = match;
  if (gateways.length > 0 && !gateways.includes(MESH)) return false;
  if (Object.keys(sourceLabels).length > 0 || sourceNamespace !== '') return false;
  return (match.port ?? 0) === 0 || match.port === port;
}
