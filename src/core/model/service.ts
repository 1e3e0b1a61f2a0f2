// The service model: what Kubernetes Services and ServiceEntries come down to. Derived by src/core/registry, read by
// everything above. Source of shapes and names: Istio pilot/pkg/model/service.go (Service, IstioEndpoint).

import { groupsOf } from '../base/groups.ts';

/** Istio's protocol classes. `Unsupported` is detected from the traffic ("auto"). */
export type Protocol =
  | 'HTTP'
  | 'HTTP2'
  | 'HTTP_PROXY'
  | 'GRPC'
  | 'GRPC-Web'
  | 'HTTPS'
  | 'TLS'
  | 'TCP'
  | 'UDP'
  | 'Mongo'
  | 'Redis'
  | 'MySQL'
  | 'Unsupported';

export interface Port {
  readonly name: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** Kubernetes `targetPort` or ServiceEntry `targetPort`, as given. */
  readonly targetPort?: number | string;
}

export type Resolution = 'ClientSideLB' | 'DNSLB' | 'DNSRoundRobinLB' | 'DynamicDNS' | 'Passthrough' | 'Alias';

export type TrafficDistribution = 'Any' | 'PreferSameZone' | 'PreferSameNode';

export interface Service {
  readonly hostname: string;
  readonly namespace: string;
  /** Kubernetes: the object's name; ServiceEntry: the hostname (Istio's Attributes.Name). */
  readonly name: string;
  /** Name of the object it was made from. */
  readonly objectName: string;
  readonly registry: 'Kubernetes' | 'External';
  readonly ports: readonly Port[];
  readonly resolution: Resolution;
  readonly meshExternal: boolean;
  /** `0.0.0.0` means none; may be a CIDR for a ServiceEntry. */
  readonly defaultAddress: string;
  /** cluster → VIPs in that cluster. */
  readonly clusterVips: Readonly<Record<string, readonly string[]>>;
  readonly autoAllocatedV4?: string;
  readonly autoAllocatedV6?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly selector: Readonly<Record<string, string>>;
  /**
   * Resolved against the mesh default: `*` public, `.` never appears (it is the namespace's name), `~` none. Sorted.
   */
  readonly exportTo: readonly string[];
  readonly creationTime: number;
  readonly serviceAccounts: readonly string[];
  /** ExternalName target. */
  readonly externalName?: string;
  /** Hostnames of ExternalName services that resolve to this one, sorted by namespace, hostname. */
  readonly aliases: readonly { readonly hostname: string; readonly namespace: string }[];
  readonly externalAddresses: Readonly<Record<string, readonly string[]>>;
  readonly trafficDistribution: TrafficDistribution;
  readonly nodeLocal: boolean;
  readonly publishNotReadyAddresses: boolean;
  /** ServiceEntry annotation istio.io/connect-strategy is RACE_FIRST_TCP_CONNECT. */
  readonly raceFirstTcpConnect: boolean;
  /** `resolution: NONE` with targetPort: service port → target port. */
  readonly passthroughTargetPorts: Readonly<Record<number, number>>;
}

/** The port with a number: never one of UDP, which may share its number with one of TCP. Istio: PortList.GetByPort. */
export function portNumbered(service: Service, number: number): Port | undefined {
  const { ports } = service;
  const candidates = ports.length > PORTS_SEARCHED_MAX ? portsNumbered(service, number) : ports;
  return candidates.find(port => port.port === number && port.protocol !== 'UDP');
}

const byNumber = new WeakMap<readonly Port[], ReadonlyMap<number, readonly Port[]>>();
/** More ports are found by an index. */
const PORTS_SEARCHED_MAX = 32;
const none: readonly Port[] = [];

/** The ports with a number, in order. */
export function portsNumbered({ ports }: Pick<Service, 'ports'>, number: number): readonly Port[] {
  if (ports.length <= PORTS_SEARCHED_MAX) return ports.filter(({ port }) => port === number);
  let index = byNumber.get(ports);
  if (index === undefined) {
    index = groupsOf(ports, ({ port }) => port);
    byNumber.set(ports, index);
  }
  return index.get(number) ?? none;
}

export type EndpointHealth = 'Healthy' | 'UnHealthy' | 'Draining' | 'Terminating' | 'Unset';

/** One address (or address set) and port of a service: Istio's IstioEndpoint. */
export interface Endpoint {
  /** First is the primary one; more only with ISTIO_DUAL_STACK. A path (`unix://…`) has port 0. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly portName: string;
  /** The number of the port, for endpoints of ServiceEntries; 0 where the name alone says which port it is. */
  readonly servicePort: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  /** `region/zone/subzone`, or empty. */
  readonly locality: string;
  readonly network: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly workloadName: string;
  readonly nodeName: string;
  readonly hostname: string;
  readonly subdomain: string;
  readonly weight: number;
  /** `istio` or `disabled` (or the label's value). */
  readonly tlsMode: string;
  readonly health: EndpointHealth;
}

/** The endpoints of a service from one registry in one cluster. */
export interface EndpointShard {
  readonly provider: 'External' | 'Kubernetes';
  readonly cluster: string;
  readonly endpoints: readonly Endpoint[];
}

/** A port of a service that the proxy's own workload serves. */
export interface ServiceTarget {
  readonly service: Service;
  readonly port: Port;
  readonly targetPort: number;
}
