// Services of ServiceEntries: one for each host and address.
// Source: Istio pilot/pkg/serviceregistry/serviceentry/conversion.go.

import ipaddr from 'ipaddr.js';
import { isCidr, isIp, isIpv4, shortestAddress } from '../base/ip.ts';
import { exportNames } from '../model/exports.ts';
import type { Obj } from '../model/object.ts';
import { protocolOf } from '../model/protocol.ts';
import type { Port, Resolution, Service } from '../model/service.ts';
import { KEY_SEPARATOR, type Query, type Reader } from '../query/reader.ts';
import type { ServiceEntry_Resolution } from '../schema/istio-types.gen.ts';
import { aliasesOf } from './aliases.ts';
import { addressesInForce } from './allocated-addresses.ts';
import { CANONICAL_NAME, CANONICAL_REVISION, canonicalService } from './canonical-service.ts';
import { hashedAddresses } from './hashed-addresses.ts';
import { NO_ADDRESS } from './kubernetes-service.ts';
import { trafficDistributionOf } from './traffic-distribution.ts';

const CONNECT_STRATEGY = 'istio.io/connect-strategy';

const resolutions: Readonly<Record<ServiceEntry_Resolution, Resolution>> = {
  NONE: 'Passthrough',
  STATIC: 'ClientSideLB',
  DNS: 'DNSLB',
  DNS_ROUND_ROBIN: 'DNSRoundRobinLB',
  DYNAMIC_DNS: 'DynamicDNS',
};

/** Each once, in the order given. */
export function hostsOf({ spec }: Obj<'ServiceEntry'>): readonly string[] {
  return [...new Set(spec.hosts ?? [])];
}

/** Argument `namespace/name` of a ServiceEntry: its services, hosts in order, of each its addresses in order. */
export const servicesOfEntry: Query<string, readonly Service[]> = {
  name: 'registry/servicesOfEntry',
  run: (reader, key) => {
    const entry = reader.object('ServiceEntry', key);
    if (entry === undefined) return [];
    const services: Service[] = [];
    for (const host of entry.spec.hosts ?? []) {
      for (const address of addressesOf(entry.spec.addresses ?? [])) {
        const service = reader.get(serviceOfEntry, { entry: key, host, address });
        if (service !== undefined) services.push(service);
      }
    }
    return services;
  },
};

/** One host and address of a ServiceEntry. */
interface EntryAddress {
  /** `namespace/name` of the ServiceEntry. */
  readonly entry: string;
  readonly host: string;
  readonly address: string;
}

/** A query of its own, so that a change of one host leaves the services of the others as they are. */
const serviceOfEntry: Query<EntryAddress, Service | undefined> = {
  name: 'registry/serviceOfEntry',
  key: ({ entry, host, address }) => [entry, host, address].join(KEY_SEPARATOR),
  run: (reader, { entry: key, host, address }) => {
    const entry = reader.object('ServiceEntry', key);
    return entry === undefined ? undefined : convert(reader, entry, host, address);
  },
};

/** The usable addresses. None given: one service without an address. None usable: no service. */
export function addressesOf(given: readonly string[]): readonly string[] {
  if (given.length === 0) return [NO_ADDRESS];
  const usable: string[] = [];
  for (const address of given) {
    if (isIp(address)) usable.push(address);
    else if (isCidr(address)) {
      const [base, bits] = ipaddr.parseCIDR(address);
      const full = base.kind() === 'ipv4' ? 32 : 128;
      usable.push(bits === full ? shortestAddress(address.slice(0, address.indexOf('/'))) : address);
    }
  }
  return usable;
}

function convert(reader: Reader, entry: Obj<'ServiceEntry'>, host: string, address: string): Service {
  const { spec } = entry;
  const resolution = resolutions[spec.resolution ?? 'NONE'];
  return {
    hostname: host,
    namespace: entry.namespace,
    name: host,
    objectName: entry.name,
    registry: 'External',
    ports: portsOf(entry),
    resolution,
    meshExternal: (spec.location ?? 'MESH_EXTERNAL') === 'MESH_EXTERNAL',
    defaultAddress: address,
    clusterVips: {},
    ...autoAllocated(reader, entry, host),
    labels: labelsOf(reader, entry),
    selector: spec.workloadSelector?.labels ?? {},
    exportTo: exportNames(spec.exportTo, reader.mesh('defaultServiceExportTo'), entry.namespace),
    creationTime: entry.creationTime,
    serviceAccounts: spec.subjectAltNames ?? [],
    aliases: reader.get(aliasesOf, host),
    externalAddresses: {},
    trafficDistribution: trafficDistributionOf(reader, entry, undefined),
    nodeLocal: false,
    publishNotReadyAddresses: false,
    raceFirstTcpConnect: entry.annotations[CONNECT_STRATEGY]?.toUpperCase() === 'RACE_FIRST_TCP_CONNECT',
    passthroughTargetPorts: resolution === 'Passthrough' ? targetPorts(entry) : {},
  };
}

/** With the flag, telemetry reports a destination outside of the mesh as a canonical service. */
function labelsOf(reader: Reader, entry: Obj<'ServiceEntry'>): Service['labels'] {
  const { labels } = entry;
  const external = (entry.spec.location ?? 'MESH_EXTERNAL') === 'MESH_EXTERNAL';
  if (!external || !reader.feature('LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES')) return labels;
  if (CANONICAL_NAME in labels && CANONICAL_REVISION in labels) return labels;
  const { name, revision } = canonicalService(labels, entry.name);
  return { ...labels, [CANONICAL_NAME]: name, [CANONICAL_REVISION]: revision };
}

function portsOf(entry: Obj<'ServiceEntry'>): readonly Port[] {
  return (entry.spec.ports ?? []).map(port => ({
    name: port.name ?? '',
    port: port.number ?? 0,
    protocol: protocolOf(port.protocol ?? ''),
    ...(port.targetPort ? { targetPort: port.targetPort } : {}),
  }));
}

function targetPorts(entry: Obj<'ServiceEntry'>): Service['passthroughTargetPorts'] {
  const overrides: Record<number, number> = {};
  for (const port of entry.spec.ports ?? []) if (port.targetPort) overrides[port.number ?? 0] = port.targetPort;
  return overrides;
}

/** The allocated addresses of this host, of each family the last; without the allocator, hashed ones. */
function autoAllocated(
  reader: Reader,
  entry: Obj<'ServiceEntry'>,
  host: string,
): Pick<Service, 'autoAllocatedV4' | 'autoAllocatedV6'> {
  if (!reader.feature('PILOT_ENABLE_IP_AUTOALLOCATE')) {
    const hashed =
      (entry.spec.addresses ?? []).length > 0 ? undefined : reader.get(hashedAddresses, `${entry.namespace}/${host}`);
    return hashed === undefined ? {} : { autoAllocatedV4: hashed.v4, autoAllocatedV6: hashed.v6 };
  }
  const given = addressesInForce(reader, entry).filter(address => address.host === host);
  const values = given.map(({ value }) => shortestAddress(value));
  const v4 = values.findLast(isIpv4);
  const v6 = values.findLast(value => !isIpv4(value));
  return { ...(v4 === undefined ? {} : { autoAllocatedV4: v4 }), ...(v6 === undefined ? {} : { autoAllocatedV6: v6 }) };
}
