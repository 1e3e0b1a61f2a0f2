// The inbound clusters of a sidecar: one for each port of its workload, or for each listener that its Sidecar declares.
// Source: Istio pilot/pkg/networking/core/cluster.go (buildInboundClusters, buildInboundClustersFromSidecar).

import { isIp, isIpv4 } from '../../base/ip.ts';
import { protocolOf } from '../../model/protocol.ts';
import type { IpMode } from '../../model/proxy.ts';
import type { Port, Service, ServiceTarget } from '../../model/service.ts';
import { HEAVY_BLOCKS, selectInBlocks } from '../../query/in-blocks.ts';
import type { ProxyReader, Query, Selection } from '../../query/reader.ts';
import { serviceTargets } from '../../registry/workload.ts';
import type {
  ConnectionPoolSettings,
  IstioIngressListener,
  TrafficPolicy_RetryBudget,
} from '../../schema/istio-types.gen.ts';
import { metadataText, preservesHeaderCase } from '../proxy/proxy-metadata.ts';
import { destinationRule } from '../scope/destination-rules.ts';
import { scopeSettings } from '../scope/sidecar-scope.ts';
import { inboundClusterName, parseClusterName } from './cluster-names.ts';
import { type CommonClusterInputs, commonClusterInputs, statName } from './common.ts';
import { policyOfPort } from './traffic-policy.ts';
import { chooseUpstreamProtocol, type UpstreamProtocol } from './upstream-protocol.ts';

/**
 * The source addresses of the sidecar's connections to its workload: they distinguish its own traffic from the
 * client's.
 */
export interface BindInputs {
  readonly bindAddress: string;
  readonly extraBindAddress: string;
}

export interface InboundClusterInputs extends CommonClusterInputs, BindInputs {
  readonly name: string;
  readonly statName: string;
  /** `passthrough`: the original destination of the connection. */
  readonly destination: 'passthrough' | 'address' | 'pipe';
  /** Address of the only endpoint, or path of its socket. */
  readonly address: string;
  readonly port: number;
  /** `passthrough`: the port that replaces the one of the original destination; 0 for none. */
  readonly portOverride: number;
  readonly finalProtocol: UpstreamProtocol;
  readonly headerCase: boolean;
  readonly connectionPool: ConnectionPoolSettings | undefined;
  readonly retryBudget: TrafficPolicy_RetryBudget | undefined;
  /** Hosts, names and namespaces of the services of the port, side by side. */
  readonly serviceHosts: readonly string[];
  readonly serviceNames: readonly string[];
  readonly serviceNamespaces: readonly string[];
  readonly ruleName: string;
  readonly ruleNamespace: string;
}

const BIND_V4 = '127.0.0.6';
const BIND_V6 = '::6';

/** The address that passthrough connections to the workload come from, and that of the other family. */
export function bindInputs(ipMode: IpMode, both: boolean): BindInputs {
  if (ipMode === 'ipv6') return { bindAddress: BIND_V6, extraBindAddress: '' };
  return { bindAddress: BIND_V4, extraBindAddress: ipMode === 'dual' && both ? BIND_V6 : '' };
}

export const inboundClusters: Query<'', readonly InboundClusterInputs[]> = {
  name: 'select/inboundClusters',
  run: reader => selectInboundClusters(reader),
};

function selectInboundClusters(reader: ProxyReader): readonly InboundClusterInputs[] {
  const targets = reader.get(serviceTargets, '');
  const ingress = reader.get(scopeSettings, '').sidecar?.spec.ingress ?? [];
  if (ingress.length === 0) {
    if (metadataText(reader, 'INTERCEPTION_MODE') === 'NONE') return [];
    return clustersOfTargets(reader, targets);
  }
  const declared = clustersOfIngress(reader, ingress);
  if (!reader.feature('PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE')) return declared;
  const ports = new Set(ingress.map(listener => listener.port?.number));
  return [
    ...declared,
    ...clustersOfTargets(
      reader,
      targets.filter(target => !ports.has(target.targetPort)),
    ),
  ];
}

/**
 * Argument: the name of an inbound cluster. The hosts by which a patch finds it: of every service with the target port;
 * of a port that the Sidecar declares without a service, the Sidecar's.
 */
export const inboundClusterHosts: Query<string, readonly string[]> = {
  name: 'select/inboundClusterHosts',
  run: (reader, name) => {
    const port = parseClusterName(name)?.port;
    const targets = reader.get(serviceTargets, '').filter(({ targetPort }) => targetPort === port);
    const { sidecar, namespace } = reader.get(scopeSettings, '');
    const declared = sidecar?.spec.ingress?.some(listener => listener.port?.number === port) === true;
    if (!declared) return targets.map(({ service }) => service.hostname);
    return [targets[0]?.service.hostname ?? `${sidecar.name}.${namespace}`];
  },
};

/** Targets of one port share a cluster; the first, of the oldest service, decides about it. */
function clustersOfTargets(reader: ProxyReader, targets: readonly ServiceTarget[]): readonly InboundClusterInputs[] {
  const local = reader.mesh('inboundTrafficPolicy')?.mode === 'LOCALHOST';
  const loopback = reader.facet('ipMode') === 'ipv6' ? '::1' : '127.0.0.1';
  const groups = new Map<number, ServiceTarget[]>();
  for (const target of targets) {
    const group = groups.get(target.targetPort);
    if (group === undefined) groups.set(target.targetPort, [target]);
    else group.push(target);
  }
  return [...groups].map(([port, group]) => {
    const { service, port: servicePort } = group[0]!;
    const services = distinctServices(group.filter(target => target.port.port === servicePort.port));
    const endpoint: Destination = local
      ? { destination: 'address', address: loopback, port, bound: false }
      : { destination: 'passthrough', address: '', port: 0, bound: true };
    return inboundInputs(reader, { port, service, servicePort, services, endpoint, ownPool: undefined });
  });
}

function clustersOfIngress(
  reader: ProxyReader,
  ingress: readonly IstioIngressListener[],
): readonly InboundClusterInputs[] {
  return selectInBlocks(reader, clustersOfListeners, ingress, HEAVY_BLOCKS, listeners => ({ listeners }));
}

const clustersOfListeners: Selection<
  { readonly listeners: readonly IstioIngressListener[] },
  readonly InboundClusterInputs[]
> = {
  name: 'select/inboundClustersOfListeners',
  run: (reader, { listeners }) => listeners.flatMap(listener => reader.select(clusterOfListener, listener) ?? []),
};

const clusterOfListener: Selection<IstioIngressListener, InboundClusterInputs | undefined> = {
  name: 'select/inboundClusterOfListener',
  run: (reader, listener) => {
    const port = listener.port?.number ?? 0;
    const endpoint = destinationOf(reader, listener.defaultEndpoint ?? '');
    if (endpoint === undefined) return undefined;
    const service = reader.get(firstTargets, '').get(port)?.service;
    const servicePort: Port = {
      name: listener.port?.name ?? '',
      port,
      protocol: protocolOf(listener.port?.protocol ?? ''),
    };
    const services = service === undefined ? [] : [service];
    return inboundInputs(reader, { port, service, servicePort, services, endpoint, ownPool: listener.connectionPool });
  },
};

/** Argument ''. Target port → its first target. */
const firstTargets: Query<'', ReadonlyMap<number, ServiceTarget>> = {
  name: 'select/firstTargets',
  run: reader =>
    new Map(
      reader
        .get(serviceTargets, '')
        .toReversed()
        .map(target => [target.targetPort, target] as const),
    ),
};

interface InboundPort {
  readonly port: number;
  readonly service: Service | undefined;
  readonly servicePort: Port;
  readonly services: readonly Service[];
  readonly endpoint: Destination;
  /** Connection pool of the ingress listener. */
  readonly ownPool: ConnectionPoolSettings | undefined;
}

function inboundInputs(reader: ProxyReader, inbound: InboundPort): InboundClusterInputs {
  const { port, service, servicePort, services, endpoint } = inbound;
  const name = inboundClusterName(port);
  const rule =
    service === undefined
      ? undefined
      : reader.get(destinationRule, { hostname: service.hostname, direction: 'inbound' });
  const policy = policyOfPort(rule?.spec.trafficPolicy, servicePort.port);
  const { sidecar, namespace } = reader.get(scopeSettings, '');
  const connectionPool = inbound.ownPool ?? sidecar?.spec.inboundConnectionPool ?? policy?.connectionPool;
  const protocol = chooseUpstreamProtocol({
    protocol: servicePort.protocol,
    followUndetected: true,
    preserveHeaderCase: preservesHeaderCase(reader),
    h2Upgrade: false,
    connectionPool,
  });
  // Telemetry names services of the mesh only; the first one stands for all of the port.
  const external = services[0]?.meshExternal === true;
  const described = reader.feature('PILOT_ENABLE_TELEMETRY_LABEL') && !external ? services : [];
  const configured = rule?.spec.trafficPolicy !== undefined && described.length > 0;
  const bind = endpoint.bound ? bindInputs(reader.facet('ipMode'), reader.feature('ISTIO_DUAL_STACK')) : noBind;
  const pattern = reader.mesh('inboundClusterStatName');
  const hostname = service?.hostname ?? `${sidecar?.name}.${namespace}`;
  return {
    ...commonClusterInputs(reader),
    ...bind,
    name,
    statName: statName(pattern, name, hostname, service, servicePort, '', port),
    destination: endpoint.destination,
    address: endpoint.address,
    port: endpoint.port,
    portOverride: service?.passthroughTargetPorts[servicePort.port] ?? 0,
    finalProtocol: protocol.protocol,
    headerCase: protocol.headerCase,
    connectionPool,
    retryBudget: policy?.retryBudget,
    serviceHosts: described.map(one => one.hostname),
    serviceNames: described.map(one => one.name),
    serviceNamespaces: described.map(one => one.namespace),
    ruleName: configured ? (rule?.name ?? '') : '',
    ruleNamespace: configured ? (rule?.namespace ?? '') : '',
  };
}

const noBind: BindInputs = { bindAddress: '', extraBindAddress: '' };

function distinctServices(targets: readonly ServiceTarget[]): readonly Service[] {
  const byHost = new Map<string, Service>();
  for (const { service } of targets) if (!byHost.has(service.hostname)) byHost.set(service.hostname, service);
  return [...byHost.values()];
}

interface Destination {
  readonly destination: 'passthrough' | 'address' | 'pipe';
  readonly address: string;
  readonly port: number;
  /** Connections come from the bind address. */
  readonly bound: boolean;
}

/** Where a `defaultEndpoint` leads; undefined: its port cannot be read, and there is no cluster. */
function destinationOf(reader: ProxyReader, defaultEndpoint: string): Destination | undefined {
  const passthrough: Destination = { destination: 'passthrough', address: '', port: 0, bound: true };
  if (defaultEndpoint === '') return passthrough;
  const unix = 'unix://';
  if (defaultEndpoint.startsWith(unix)) {
    return { destination: 'pipe', address: defaultEndpoint.slice(unix.length), port: 0, bound: true };
  }
  const colon = defaultEndpoint.lastIndexOf(':');
  const host = defaultEndpoint.slice(0, Math.max(colon, 0)).replace(/^\[(.*)\]$/, '$1');
  const portText = defaultEndpoint.slice(colon + 1);
  if (!/^[0-9]{1,5}$/.test(portText)) return undefined;
  const port = Number(portText);
  const mode = reader.facet('ipMode');
  const v4 = host === '127.0.0.1' || host === '0.0.0.0';
  if (host === '127.0.0.1' || host === '::1') {
    const useV4 = v4 ? mode !== 'ipv6' : mode === 'ipv4';
    return { destination: 'address', address: useV4 ? '127.0.0.1' : '::1', port, bound: false };
  }
  if (host === '0.0.0.0' || host === '::') {
    const own = reader.facet('ips').find(ip => isIp(ip) && isIpv4(ip) === v4);
    return { destination: 'address', address: own ?? (v4 ? '127.0.0.1' : '::1'), port, bound: own !== undefined };
  }
  return passthrough;
}
