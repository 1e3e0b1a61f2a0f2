// Where a TCP connection goes: the clusters of a route and the connection settings of the DestinationRule in force.
// Source: Istio pilot/pkg/networking/core/networkfilter.go (buildOutboundNetworkFilters).

import type { Port, Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import type { DestinationRule, RouteDestination, Subset } from '../../schema/istio-types.gen.ts';
import {
  BLACK_HOLE_CLUSTER,
  outboundClusterName,
  PASSTHROUGH_CLUSTER,
  UNKNOWN_SERVICE,
} from '../cluster/cluster-names.ts';
import { statName } from '../cluster/common.ts';
import { metadataText } from '../proxy/proxy-metadata.ts';
import { scopeRules } from '../scope/destination-rules.ts';
import { scopeService, scopeSettings } from '../scope/sidecar-scope.ts';
import { subsetNamed } from '../scope/subsets.ts';
import { joinHostPort } from './proxyless-names.ts';

export interface TcpRoute {
  /** Never empty; one cluster, or those of a split in order. */
  readonly clusters: readonly string[];
  /** Beside `clusters`; empty for a single cluster. */
  readonly weights: readonly number[];
  readonly statPrefix: string;
  /** Decoded duration or Go text. */
  readonly idleTimeout?: unknown;
  readonly maxDuration?: unknown;
  readonly hashSourceIp: boolean;
  /** `host:port` to CONNECT (or POST) to; '' for no tunnel. */
  readonly tunnelHost: string;
  readonly tunnelPost: boolean;
}

/** A route to a cluster that is no service: its name is its statistics prefix. */
export function plainTcpRoute(reader: ProxyReader, cluster: string): TcpRoute {
  return {
    clusters: [cluster],
    weights: [],
    statPrefix: cluster,
    idleTimeout: metadataText(reader, 'IDLE_TIMEOUT'),
    hashSourceIp: false,
    tunnelHost: '',
    tunnelPost: false,
  };
}

/** The route of connections that match no service: by the outbound traffic policy of the scope. */
export function fallthroughRoute(reader: ProxyReader): TcpRoute {
  const policy = reader.get(scopeSettings, '').outboundTrafficPolicy;
  if (policy.mode !== 'ALLOW_ANY') return plainTcpRoute(reader, BLACK_HOLE_CLUSTER);
  const egress = policy.egressProxy as RouteDestination['destination'] | undefined;
  if (egress?.host === undefined || egress.host === '') return plainTcpRoute(reader, PASSTHROUGH_CLUSTER);
  return plainTcpRoute(reader, outboundClusterName(egress.host, egress.subset ?? '', egress.port?.number ?? 0));
}

/** The route to a service on one of its ports, without any VirtualService. */
export function serviceTcpRoute(reader: ProxyReader, service: Service, listenerPort: number): TcpRoute {
  const port = service.ports.length === 1 ? service.ports[0]!.port : listenerPort;
  const cluster = outboundClusterName(service.hostname, '', port);
  const rule = ruleOf(reader, service);
  return single(reader, connectionSettings(reader, rule, ''), cluster, service, unnamed(port), '');
}

/** The route to what goes by the name `cluster` in TLS that is not ended here: no tunnel is put around it. */
export function sniTcpRoute(
  reader: ProxyReader,
  cluster: string,
  to: { readonly service: Service; readonly port: Port; readonly subset: string },
  rule: DestinationRule | undefined,
): TcpRoute {
  const settings = { ...connectionSettings(reader, rule, to.subset), tunnelHost: '', tunnelPost: false };
  return single(reader, settings, cluster, to.service, to.port, to.subset);
}

/**
 * The route of a VirtualService's tcp or tls rule. `listener` is the port where it holds; `owner` names a split in the
 * statistics.
 */
export function ruleTcpRoute(
  reader: ProxyReader,
  routes: readonly RouteDestination[],
  listener: Port,
  owner: { readonly name: string; readonly namespace: string },
): TcpRoute | undefined {
  const [first] = routes;
  if (first === undefined) return undefined;
  const firstService = serviceOf(reader, first);
  const rule = firstService === undefined ? undefined : ruleOf(reader, firstService);
  if (routes.length === 1) {
    const cluster = clusterOf(first, firstService, listener.port);
    const subset = first.destination?.subset ?? '';
    return single(reader, connectionSettings(reader, rule, subset), cluster, firstService, listener, subset);
  }
  const weighted = routes.filter(route => (route.weight ?? 0) > 0);
  if (weighted.length === 0) return undefined;
  return {
    ...connectionSettings(reader, rule, ''),
    clusters: weighted.map(route => clusterOf(route, serviceOf(reader, route), listener.port)),
    weights: weighted.map(route => route.weight ?? 0),
    statPrefix: `${owner.name}.${owner.namespace}`,
  };
}

function serviceOf(reader: ProxyReader, route: RouteDestination): Service | undefined {
  return reader.get(scopeService, route.destination?.host ?? '');
}

function ruleOf(reader: ProxyReader, service: Service): DestinationRule | undefined {
  return reader.get(scopeRules, '').get(service.hostname)?.spec as DestinationRule | undefined;
}

/**
 * The port as written, else the only port of the service, else that of the listener. An alias stands for the name it
 * points to.
 */
function clusterOf(route: RouteDestination, service: Service | undefined, listenerPort: number): string {
  if (!route.destination?.host) return UNKNOWN_SERVICE;
  const written = route.destination.port?.number;
  const only = service?.ports.length === 1 ? service.ports[0]!.port : listenerPort;
  const port = written === undefined || written === 0 ? only : written;
  const alias = service?.resolution === 'Alias' ? service.externalName : undefined;
  return outboundClusterName(alias ?? route.destination.host, route.destination.subset ?? '', port);
}

/** Without a rule, statistics do not tell the port by its name. */
function unnamed(port: number): Port {
  return { name: '', port, protocol: 'TCP' };
}

function single(
  reader: ProxyReader,
  settings: ConnectionSettings,
  cluster: string,
  service: Service | undefined,
  port: Port,
  subset: string,
): TcpRoute {
  const pattern = reader.mesh('outboundClusterStatName') as string | undefined;
  const statPrefix =
    service === undefined ? cluster : statName(pattern, cluster, service.hostname, service, port, subset, 0);
  return {
    clusters: [cluster],
    weights: [],
    statPrefix,
    idleTimeout: settings.idleTimeout,
    maxDuration: settings.maxDuration,
    hashSourceIp: settings.hashSourceIp,
    tunnelHost: settings.tunnelHost,
    tunnelPost: settings.tunnelPost,
  } satisfies TcpRoute & Record<keyof ConnectionSettings, unknown>;
}

export type ConnectionSettings = Omit<TcpRoute, 'clusters' | 'weights' | 'statPrefix'>;

export function connectionSettings(
  reader: ProxyReader,
  rule: DestinationRule | undefined,
  subsetName: string,
): ConnectionSettings {
  const policy = rule?.trafficPolicy;
  const subset = subsetOf(rule, subsetName);
  const tcp = policy?.connectionPool?.tcp;
  const tunnel = subsetName === '' ? policy?.tunnel : subset?.trafficPolicy?.tunnel;
  return {
    idleTimeout: tcp?.idleTimeout ?? metadataText(reader, 'IDLE_TIMEOUT'),
    maxDuration: tcp?.maxConnectionDuration,
    hashSourceIp: hashesSourceIp(rule, subset),
    tunnelHost: tunnel === undefined ? '' : joinHostPort(tunnel.targetHost ?? '', tunnel.targetPort ?? 0),
    tunnelPost: tunnel?.protocol === 'POST',
  };
}

function subsetOf(rule: DestinationRule | undefined, name: string): Subset | undefined {
  return name === '' ? undefined : subsetNamed(rule, name);
}

/** A subset's load balancer always replaces that of the rule. */
function hashesSourceIp(rule: DestinationRule | undefined, subset: Subset | undefined): boolean {
  const balancer = subset?.trafficPolicy?.loadBalancer ?? rule?.trafficPolicy?.loadBalancer;
  return balancer?.consistentHash?.useSourceIp === true;
}
