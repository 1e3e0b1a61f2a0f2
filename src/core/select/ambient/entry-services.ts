// The hosts of a ServiceEntry as ztunnel knows them, before those of other objects with the same host are considered.
// Source: Istio pilot/pkg/serviceregistry/ambient/services.go (constructServiceEntries).

import ipaddr from 'ipaddr.js';
import { isIp, shortestAddress } from '../../base/ip.ts';
import { isWildcard } from '../../model/hosts.ts';
import type { Obj } from '../../model/object.ts';
import { protocolOf } from '../../model/protocol.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { addressesInForce } from '../../registry/allocated-addresses.ts';
import { hostsOf } from '../../registry/service-entry.ts';
import { trafficDistributionOf } from '../../registry/traffic-distribution.ts';
import { distributed, waypointParts } from './kubernetes-services.ts';
import { localNetwork } from './network.ts';
import type { AmbientPort, AmbientService, LoadBalancing, ServiceAddress } from './service.ts';

/** Argument `namespace/name`. One for each host, in order. */
export const entryHosts: Query<string, readonly AmbientService[]> = {
  name: 'select/ambient/entryHosts',
  run: (reader, key) => {
    const entry = reader.object('ServiceEntry', key);
    if (entry === undefined || !reader.feature('PILOT_ENABLE_AMBIENT')) return [];
    const given = (entry.spec.addresses ?? []).map(addressOf);
    const shared = {
      name: entry.name,
      namespace: entry.namespace,
      registry: 'ServiceEntry',
      network: reader.get(localNetwork, ''),
      ports: portsOf(entry),
      subjectAltNames: entry.spec.subjectAltNames ?? [],
      ...waypointParts(reader, entry),
      loadBalancing: loadBalancingOf(reader, entry),
      ipFamilies: 'AUTOMATIC',
      canonical: false,
      selector: entry.spec.workloadSelector?.labels ?? {},
    } as const;
    return hostsOf(entry).map(hostname => {
      const addresses = given.length > 0 ? given : allocated(reader, entry, hostname);
      return { ...shared, hostname, addresses };
    });
  },
};

/** An address, or a range as its first address. */
function addressOf(text: string): ServiceAddress {
  if (isIp(text)) return { ip: text, bits: undefined };
  const slash = text.indexOf('/');
  const range = shortestAddress(text.slice(0, slash)) + text.slice(slash);
  const [address, bits] = ipaddr.parseCIDR(range);
  const isV4 = address.kind() === 'ipv4';
  const base = isV4 ? ipaddr.IPv4.networkAddressFromCIDR(range) : ipaddr.IPv6.networkAddressFromCIDR(range);
  return { ip: base.toString(), bits: bits === (isV4 ? 32 : 128) ? undefined : bits };
}

/** The addresses that the allocator gave the host. */
function allocated(reader: Reader, entry: Obj<'ServiceEntry'>, host: string): readonly ServiceAddress[] {
  if (!reader.feature('PILOT_ENABLE_IP_AUTOALLOCATE')) return [];
  if (isWildcard(host) && entry.spec.resolution !== 'DYNAMIC_DNS') return [];
  return addressesInForce(reader, entry)
    .filter(address => address.host === host)
    .map(({ value }) => ({ ip: value, bits: undefined }));
}

function portsOf({ spec }: Obj<'ServiceEntry'>): readonly AmbientPort[] {
  return (spec.ports ?? []).map(({ number = 0, name = '', protocol = '', targetPort }) => ({
    port: number,
    targetPort: targetPort || number,
    name,
    targetName: '',
    protocol: protocolOf(protocol),
  }));
}

/** Without resolution, traffic goes on to the address that the client called. */
function loadBalancingOf(reader: Reader, entry: Obj<'ServiceEntry'>): LoadBalancing | undefined {
  if ((entry.spec.resolution ?? 'NONE') === 'NONE') return { preference: [], mode: 'PASSTHROUGH', allEndpoints: true };
  return distributed(trafficDistributionOf(reader, entry, undefined));
}
