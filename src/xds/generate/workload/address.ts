// What ztunnel calls an address: a workload or a service, each a resource of its own. Aliases by which clients on
// demand may ask for them are `network/address`.
// Source: Istio pkg/workloadapi/workload.proto, pilot/pkg/model/service.go (WorkloadInfo, ServiceInfo: Aliases).

import { ipBytes, isIp, shortestAddress } from '../../../core/base/ip.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Protocol } from '../../../core/model/service.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { GatewayTarget } from '../../../core/select/ambient/network-gateways.ts';
import type { AmbientPort, AmbientService, ServiceAddress } from '../../../core/select/ambient/service.ts';
import { HBONE_PORT, type WaypointAddress } from '../../../core/select/ambient/waypoints.ts';
import type { AmbientWorkload, WorkloadService } from '../../../core/select/ambient/workload.ts';
import {
  ApplicationTunnel_Protocol,
  AppProtocol,
  type GatewayAddress,
  IPFamilies,
  type LoadBalancing,
  LoadBalancing_HealthPolicy,
  LoadBalancing_Mode,
  LoadBalancing_Scope,
  type NetworkAddress,
  NetworkMode,
  type Port,
  type PortList,
  type Service,
  TunnelProtocol,
  type Workload,
  type WorkloadAddress,
  type WorkloadLocality,
  WorkloadStatus,
  WorkloadType,
} from '../../proto/types.gen.ts';
import { orNone } from '../common/or-none.ts';

type ServicesMessage = Readonly<Record<string, PortList>> | undefined;

/** Workloads with equal services share the message of them. */
export const workloadServices: Generator<{ readonly services: readonly WorkloadService[] }, ServicesMessage> = {
  name: 'workload/workloadServices',
  run: ({ services }) => {
    if (services.length === 0) return undefined;
    return Object.fromEntries(
      services.map(({ name, ports }): readonly [string, PortList] => [
        name,
        { ports: orNone(ports.map(([servicePort, targetPort]) => ({ servicePort, targetPort }))) },
      ]),
    );
  },
};

interface AddressInputs {
  readonly workload: AmbientWorkload;
  /** By `workloadServices`. */
  readonly services: ServicesMessage;
}

export const workloadAddress: Generator<AddressInputs, Resource<WorkloadAddress>> = {
  name: 'workload/workloadAddress',
  run: ({ workload, services }) => ({
    name: workload.uid,
    message: { workload: workloadMessage(workload, services) },
    problems: [],
    aliases: workload.addresses.map(ip => aliasOf(workload.network, ip)),
  }),
};

export const serviceAddress: Generator<{ readonly service: AmbientService }, Resource<WorkloadAddress>> = {
  name: 'workload/serviceAddress',
  run: ({ service }) => ({
    name: `${service.namespace}/${service.hostname}`,
    message: { service: serviceMessage(service) },
    problems: [],
    aliases: service.addresses.flatMap(({ ip, bits }) => {
      const alias = aliasOf(service.network, ip);
      return bits === undefined ? [alias] : [alias, `${alias}/${bits}`];
    }),
  }),
};

/** Clients have addresses as bytes, and ask by their shortest text. */
function aliasOf(network: string, ip: string): string {
  return `${network}/${shortestAddress(ip)}`;
}

/** The same message without its frame, for Envoys that look up the workloads behind addresses. */
export const plainWorkload: Generator<{ readonly address: Resource<WorkloadAddress> }, Resource<Workload>> = {
  name: 'workload/plainWorkload',
  run: ({ address }) => ({ ...address, message: address.message.workload ?? {} }),
};

const protocols: Readonly<Partial<Record<Protocol, AppProtocol>>> = {
  HTTP: AppProtocol.HTTP11,
  HTTP2: AppProtocol.HTTP2,
  GRPC: AppProtocol.GRPC,
  TCP: AppProtocol.TCP,
  TLS: AppProtocol.TLS,
  HTTPS: AppProtocol.TLS,
};

function serviceMessage(service: AmbientService): Service {
  const { name, namespace, hostname, network, addresses, ports, subjectAltNames, waypoint, loadBalancing } = service;
  return {
    name,
    namespace,
    hostname,
    addresses: orNone(addresses.map(address => networkAddress(network, address))),
    ports: orNone(ports.map(portMessage)),
    subjectAltNames: orNone(subjectAltNames),
    waypoint: waypoint && waypointMessage(waypoint),
    loadBalancing: loadBalancing && loadBalancingMessage(loadBalancing),
    ipFamilies: IPFamilies[service.ipFamilies],
    canonical: service.canonical,
    ingressUseWaypoint: service.ingressUseWaypoint,
  };
}

function portMessage({ port, targetPort, protocol }: AmbientPort): Port {
  return { servicePort: port, targetPort, appProtocol: protocols[protocol] ?? AppProtocol.UNKNOWN };
}

function loadBalancingMessage({
  preference,
  mode,
  allEndpoints,
}: NonNullable<AmbientService['loadBalancing']>): LoadBalancing {
  return {
    routingPreference: orNone(preference.map(scope => LoadBalancing_Scope[scope])),
    mode: LoadBalancing_Mode[mode ?? 'UNSPECIFIED_MODE'],
    healthPolicy: allEndpoints ? LoadBalancing_HealthPolicy.ALLOW_ALL : LoadBalancing_HealthPolicy.ONLY_HEALTHY,
  };
}

function workloadMessage(workload: AmbientWorkload, services: ServicesMessage): Workload {
  const { waypoint, networkGateway, applicationTunnel, tunnel, locality, capacity } = workload;
  return {
    uid: workload.uid,
    name: workload.name,
    namespace: workload.namespace,
    addresses: orNone(workload.addresses.map(ipBytes)),
    hostname: workload.hostname,
    network: workload.network,
    tunnelProtocol: tunnel === 'NONE' ? TunnelProtocol.NONE : TunnelProtocol.HBONE,
    nativeTunnel: tunnel === 'native',
    trustDomain: workload.trustDomain,
    serviceAccount: workload.serviceAccount,
    waypoint: waypoint && waypointMessage(waypoint),
    networkGateway: networkGateway && gatewayMessage(networkGateway),
    node: workload.node,
    canonicalName: workload.canonicalName,
    canonicalRevision: workload.canonicalRevision,
    workloadType: WorkloadType[workload.workloadType],
    workloadName: workload.workloadName,
    services,
    authorizationPolicies: orNone(workload.authorizationPolicies),
    status: workload.healthy ? WorkloadStatus.HEALTHY : WorkloadStatus.UNHEALTHY,
    clusterId: workload.cluster,
    applicationTunnel: applicationTunnel && {
      protocol: ApplicationTunnel_Protocol[applicationTunnel.protocol],
      port: applicationTunnel.port,
    },
    locality: locality === '' ? undefined : localityMessage(locality),
    networkMode: workload.hostNetwork ? NetworkMode.HOST_NETWORK : NetworkMode.STANDARD,
    capacity: capacity === 0 ? undefined : { value: capacity },
  };
}

function localityMessage(locality: string): WorkloadLocality {
  const [region = '', zone = '', subzone = ''] = locality.split('/');
  return { region, zone, subzone };
}

function waypointMessage(to: WaypointAddress): GatewayAddress {
  if ('hostname' in to) return { hostname: to, hboneMtlsPort: HBONE_PORT };
  return { address: networkAddress(to.network, { ip: to.ip, bits: undefined }), hboneMtlsPort: HBONE_PORT };
}

function gatewayMessage({ network, address, port, namespace }: GatewayTarget): GatewayAddress {
  if (!isIp(address)) return { hostname: { namespace, hostname: address }, hboneMtlsPort: port };
  return { address: networkAddress(network, { ip: address, bits: undefined }), hboneMtlsPort: port };
}

function networkAddress(network: string, { ip, bits }: ServiceAddress): NetworkAddress {
  return { network, address: ipBytes(ip), ...(bits === undefined ? {} : { length: bits }) };
}
