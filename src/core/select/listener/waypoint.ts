// The plan of a waypoint's internal listener: which chain takes the connections to each address and port, and which
// ports need no inspection of their first bytes.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildWaypointInternal).

import { isHttp, isTcp, isUnsupported } from '../../model/protocol.ts';
import type { Port, Protocol, Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { servicesBehind, workloadsBehind } from '../ambient/behind-waypoint.ts';
import { subjectOfService } from '../ambient/subjects.ts';
import { vipClusterName } from '../cluster/cluster-names.ts';
import { addressView, allAddresses } from '../nametable/service-addresses.ts';
import type { PolicySubject } from '../telemetry/traffic-class.ts';
import { plainHttp } from './alpn.ts';

/** Names of the chains for connections to workloads. */
export const DIRECT_TCP = 'direct-tcp';
export const DIRECT_HTTP = 'direct-http';

/** A chain is named after the cluster that it leads to. */
export interface WaypointChain {
  readonly name: string;
  readonly carries: 'http' | 'tcp';
  readonly service: Service;
  readonly port: Port;
  readonly subject: PolicySubject;
}

/** Text without a chain of HTTP, or of TCP: one of them takes all. */
export interface ChainChoice {
  readonly http: string;
  readonly tcp: string;
}

/** Connections to the addresses, by port. */
export interface AddressedChains {
  /** `address` or `address/length`, sorted. */
  readonly addresses: readonly string[];
  readonly ports: readonly (readonly [port: number, choice: ChainChoice])[];
}

export interface WaypointPlan {
  readonly chains: readonly WaypointChain[];
  readonly services: readonly AddressedChains[];
  /** Of the workloads behind the waypoint. */
  readonly direct: readonly string[];
  /** Names of the protocols that an inspection may find, for chains of HTTP. */
  readonly httpNames: readonly string[];
  /** Ports that are not inspected for HTTP. */
  readonly uninspected: readonly number[];
  /** Ports that are not inspected for TLS; undefined: none is. */
  readonly withoutTls: readonly number[] | undefined;
}

export function selectWaypointPlan(reader: ProxyReader): WaypointPlan {
  const services = reader.get(servicesBehind, '');
  const workloads = reader.get(workloadsBehind, '');
  const view = reader.derived(addressView);
  const chains: WaypointChain[] = [];
  const addressed: AddressedChains[] = [];
  const detected = new Map<number, Protocol>();
  for (const service of services) {
    const ports: [number, ChainChoice][] = [];
    for (const port of service.ports) {
      const carried = carriedBy(reader, service, port);
      if (carried.length === 0) continue;
      for (const carries of carried) chains.push(chainOf(service, port, carries));
      const of = (carries: 'http' | 'tcp'): string =>
        carried.includes(carries) ? vipClusterName(service.hostname, carries, '', port.port) : '';
      ports.push([port.port, { http: of('http'), tcp: of('tcp') }]);
      detected.set(port.port, joined(detected.get(port.port), port.protocol));
    }
    const addresses = [...new Set(allAddresses(service, view))].sort();
    // Envoy refuses a matcher without addresses.
    if (ports.length > 0 && addresses.length > 0) addressed.push({ addresses, ports: lastOfEach(ports) });
  }
  return {
    chains,
    services: addressed,
    direct: workloads.flatMap(({ addresses }) => addresses),
    httpNames: plainHttp(reader),
    // Any port of a workload may be meant.
    uninspected: workloads.length > 0 ? [] : portsWith(detected, protocol => !isUnsupported(protocol)),
    withoutTls: withoutTls(services),
  };
}

function chainOf(service: Service, port: Port, carries: 'http' | 'tcp'): WaypointChain {
  const name = vipClusterName(service.hostname, carries, '', port.port);
  return { name, carries, service, port, subject: subjectOfService(service) };
}

/** In the order of the chains. */
function carriedBy(reader: ProxyReader, service: Service, { protocol }: Port): readonly ('tcp' | 'http')[] {
  if (protocol === 'UDP') return [];
  if (isUnsupported(protocol)) return ['tcp', 'http'];
  if (isHttp(protocol)) return ['http'];
  // What is resolved on demand has a wildcard for a host, and its ports carry HTTP or TLS.
  const onDemand = service.resolution === 'DynamicDNS';
  return onDemand && !reader.feature('ENABLE_WILDCARD_HOST_SERVICE_ENTRIES_FOR_TLS') ? [] : ['tcp'];
}

function isTls(protocol: Protocol): boolean {
  return protocol === 'TLS' || protocol === 'HTTPS';
}

/** Ports of several services that carry different things are detected. */
function joined(known: Protocol | undefined, protocol: Protocol): Protocol {
  if (isUnsupported(protocol)) return 'Unsupported';
  if (isHttp(protocol)) return known === undefined || known === 'HTTP' ? 'HTTP' : 'Unsupported';
  return known === undefined || isTcp(known) ? protocol : 'Unsupported';
}

/** Of equal ports the last counts. */
function lastOfEach(ports: readonly (readonly [number, ChainChoice])[]): AddressedChains['ports'] {
  return [...new Map(ports)].sort(([a], [b]) => a - b);
}

function portsWith(protocols: ReadonlyMap<number, Protocol>, wanted: (protocol: Protocol) => boolean): number[] {
  const found = [...protocols].filter(([, protocol]) => wanted(protocol)).map(([port]) => port);
  return found.sort((a, b) => a - b);
}

function withoutTls(services: readonly Service[]): readonly number[] | undefined {
  const ports = services.flatMap(service => service.ports);
  const tls = new Set(ports.filter(({ protocol }) => isTls(protocol)).map(({ port }) => port));
  if (tls.size === 0) return undefined;
  const others = ports.map(({ port }) => port).filter(port => !tls.has(port));
  return [...new Set(others)].sort((a, b) => a - b);
}
