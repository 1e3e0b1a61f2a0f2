// The listeners of a waypoint: the end of tunnels, the internal listener with the chains of what is behind the
// waypoint, and the internal listeners that open tunnels to it.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildWaypointInbound).

import { isHttp2 } from '../../../core/model/protocol.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import {
  ENCAP_CLUSTER,
  INNER_CONNECT_ORIGINATE,
  OUTER_CONNECT_ORIGINATE,
} from '../../../core/select/cluster/cluster-names.ts';
import { filterStateFactory, ownNetwork } from '../../../core/select/listener/tunnels.ts';
import {
  DIRECT_HTTP,
  DIRECT_TCP,
  selectWaypointPlan,
  type WaypointChain,
} from '../../../core/select/listener/waypoint.ts';
import { directTcpRoute, waypointTcpRoute } from '../../../core/select/listener/waypoint-tcp.ts';
import { nestsTunnels } from '../../../core/select/proxy/hbone.ts';
import { defaultRouteSelector } from '../../../core/select/route/default-route.ts';
import { waypointRoutes } from '../../../core/select/route/waypoint-routes.ts';
import { type TrafficClass, waypointTraffic } from '../../../core/select/telemetry/traffic-class.ts';
import { endpointMetadata, innerTarget, keptDestination } from '../../generate/listener/filter-state.ts';
import { waypointChain, waypointListener, waypointRouteConfiguration } from '../../generate/listener/waypoint.ts';
import { defaultRoutes } from '../../generate/route/default-route.ts';
import type { Filter, FilterChain, Listener, RouteConfiguration } from '../../proto/types.gen.ts';
import { patchedRoutes } from '../patch/routes.ts';
import { routesOfVirtualService } from '../route/virtual-service-routes.ts';
import { accessLogsOf, listenerAccessLogs } from './access-log.ts';
import { portOfExtensions } from './extension-filters.ts';
import { networkFilters, terminalFilters } from './filters.ts';
import { httpConnectionManager } from './http-connection-manager.ts';
import { connectOriginate, connectTerminate, openerOf } from './tunnels.ts';

/** Of what no service of its own is known. */
const DIRECT: TrafficClass = waypointTraffic('');

export const waypointListeners: Query<'', readonly Resource<Listener>[]> = {
  name: 'listener/waypointListeners',
  run: reader => [
    connectTerminate(reader, DIRECT),
    mainInternal(reader),
    connectOriginate(reader, DIRECT),
    ...(nestsTunnels(reader) ? otherNetworks(reader) : []),
  ],
};

/** They open a tunnel in a tunnel. */
function otherNetworks(reader: ProxyReader): readonly Resource<Listener>[] {
  return [
    openerOf(reader, DIRECT, {
      name: INNER_CONNECT_ORIGINATE,
      target: innerTarget,
      header: 'x-forwarded-network',
      headerValue: ownNetwork(reader),
      filters: [endpointMetadata[filterStateFactory(reader)]],
      readsDestination: false,
    }),
    openerOf(reader, DIRECT, {
      name: OUTER_CONNECT_ORIGINATE,
      target: innerTarget,
      header: 'x-istio-source',
      headerValue: 'waypoint',
      filters: [],
      readsDestination: true,
    }),
  ];
}

function mainInternal(reader: ProxyReader): Resource<Listener> {
  const plan = selectWaypointPlan(reader);
  return reader.make(waypointListener, {
    chains: [...plan.chains.map(chain => serviceChain(reader, chain)), ...directChains(reader)],
    services: plan.services,
    direct: plan.direct,
    httpNames: plan.httpNames,
    uninspected: plan.uninspected,
    withoutTls: plan.withoutTls,
    accessLog: listenerAccessLogs(reader, DIRECT),
  });
}

function serviceChain(reader: ProxyReader, chain: WaypointChain): FilterChain {
  const filters = chain.carries === 'http' ? [serviceHttp(reader, chain)] : serviceTcp(reader, chain);
  return reader.make(waypointChain, { name: chain.name, filters });
}

function serviceHttp(reader: ProxyReader, chain: WaypointChain): Filter {
  const { service, port } = chain;
  return httpConnectionManager(reader, {
    traffic: waypointTraffic(chain.subject),
    grpcWeb: port.protocol === 'GRPC-Web',
    dynamicForwardProxy: service.hostname.startsWith('*') ? service.hostname : '',
    httpProxy: false,
    statPrefix: statPrefixOf(port.port),
    routes: routesOf(reader, chain),
    http2: isHttp2(port.protocol),
    extensionPort: 0,
  });
}

function serviceTcp(reader: ProxyReader, chain: WaypointChain): readonly Filter[] {
  const { service, port } = chain;
  const traffic = waypointTraffic(chain.subject);
  const onDemand = service.hostname.startsWith('*') && service.resolution === 'DynamicDNS';
  const traits = {
    protocol: port.protocol,
    dynamicHost: onDemand ? service.hostname : '',
    dynamicPort: onDemand ? port.port : 0,
  };
  return [
    ...tcpFilters(reader, traffic, port.port),
    ...terminalFilters(reader, waypointTcpRoute(reader, chain), traits, reader.get(accessLogsOf, traffic).tcp),
  ];
}

function tcpFilters(reader: ProxyReader, traffic: TrafficClass, port: number): readonly Filter[] {
  const extensionPort = portOfExtensions(reader, port);
  return networkFilters(reader, { traffic, exchange: true, policiesBeside: '', extensionPort });
}

/** Routes of VirtualServices stay as they are: patches reach the default one alone, as in Istio. */
function routesOf(reader: ProxyReader, { name, service, port }: WaypointChain): RouteConfiguration {
  const selected = waypointRoutes(reader, service, port);
  const domain = service.resolution === 'DynamicDNS' ? service.hostname : '*';
  if (selected.length === 0) return defaultRoutesOf(reader, name, service.hostname, port.port, domain);
  const routes = selected.flatMap(inputs => routesOfVirtualService(reader, inputs).routes);
  return reader.make(waypointRouteConfiguration, { name, port: port.port, domain, routes, isDefault: false });
}

function defaultRoutesOf(
  reader: ProxyReader,
  cluster: string,
  hostname: string,
  port: number,
  domain: string,
): RouteConfiguration {
  const inputs = { ...defaultRouteSelector(reader)(hostname, port), hash: undefined, cluster };
  const { routes } = reader.make(defaultRoutes, inputs);
  const made = reader.make(waypointRouteConfiguration, { name: cluster, port, domain, routes, isDefault: true });
  return patchedRoutes(reader, made, 'SIDECAR_INBOUND').configuration;
}

/** To workloads, which no service stands for: by the address alone. */
function directChains(reader: ProxyReader): readonly FilterChain[] {
  const accessLog = reader.get(accessLogsOf, DIRECT).tcp;
  const tcp = [
    keptDestination,
    ...tcpFilters(reader, DIRECT, 0),
    ...terminalFilters(reader, directTcpRoute(reader), { protocol: 'TCP' }, accessLog),
  ];
  const hcm = httpConnectionManager(reader, {
    traffic: DIRECT,
    grpcWeb: false,
    dynamicForwardProxy: '',
    httpProxy: false,
    statPrefix: statPrefixOf(0),
    routes: defaultRoutesOf(reader, ENCAP_CLUSTER, '', 0, '*'),
    http2: false,
    extensionPort: 0,
  });
  return [
    reader.make(waypointChain, { name: DIRECT_TCP, filters: tcp }),
    reader.make(waypointChain, { name: DIRECT_HTTP, filters: [keptDestination, hcm] }),
  ];
}

function statPrefixOf(port: number): string {
  return `inbound_0.0.0.0_${port};`;
}
