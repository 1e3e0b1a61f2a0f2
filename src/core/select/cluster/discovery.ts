// How the endpoints of an outbound cluster are found, before and after the rules.
// Source: Istio pilot/pkg/networking/core/cluster.go (convertResolution), pilot/pkg/networking/core/cluster_builder.go,
// pilot/pkg/networking/core/cluster_traffic_policy.go (applyLoadBalancer).

import type { Port, Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import type { Duration } from '../../schema/duration.ts';
import { type OutboundDefaults, outboundDefaults } from './common.ts';
import type { ClusterPolicy } from './traffic-policy.ts';

export type Discovery = 'EDS' | 'ORIGINAL_DST' | 'STRICT_DNS' | 'LOGICAL_DNS' | 'FORWARD_PROXY';
export type DnsFamily = 'V4_ONLY' | 'V6_ONLY' | 'ALL';

export interface DnsInputs {
  readonly dnsFamily: DnsFamily | undefined;
  readonly dnsRefreshRate: Duration | undefined;
  readonly dnsJitterMs: number;
  readonly dnsUdpMaxQueries: number;
}

/** A policy that passes connections through takes the endpoints away, but leaves how names would be resolved. */
export function resolvesNames(discovery: Discovery): boolean {
  return discovery === 'STRICT_DNS' || discovery === 'LOGICAL_DNS';
}

/**
 * Which discovery type a service has, before its rules. Gateways cannot use the original destination, and route by SNI
 * to what they know alone.
 */
export function discoveryOf(reader: ProxyReader, service: Service, sniDnat: boolean): Discovery {
  switch (service.resolution) {
    case 'DNSLB':
      return service.raceFirstTcpConnect ? 'LOGICAL_DNS' : 'STRICT_DNS';
    case 'DNSRoundRobinLB':
      return 'LOGICAL_DNS';
    case 'DynamicDNS':
      return isDynamic(service) && !sniDnat ? 'FORWARD_PROXY' : 'EDS';
    case 'Passthrough': {
      if (reader.facet('type') === 'router') return 'EDS';
      const headless = service.registry === 'Kubernetes';
      return headless && reader.feature('PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES') ? 'EDS' : 'ORIGINAL_DST';
    }
    default:
      return 'EDS';
  }
}

/** A wildcard whose names are resolved on demand; it has no subsets. */
export function isDynamic({ resolution, hostname }: Service): boolean {
  return resolution === 'DynamicDNS' && hostname.startsWith('*');
}

/** The policy's PASSTHROUGH replaces the type, except where keys are hashed. */
export function finishedDiscovery(
  reader: ProxyReader,
  port: Port,
  discovery: Discovery,
  policy: ClusterPolicy | undefined,
): Discovery {
  if (discovery === 'FORWARD_PROXY' || !isPassthrough(policy)) return discovery;
  return hashesKeys(reader.get(outboundDefaults, ''), port) ? discovery : 'ORIGINAL_DST';
}

export function hashesKeys({ redisFilter }: OutboundDefaults, { protocol }: Port): boolean {
  return protocol === 'Redis' && redisFilter;
}

export function isPassthrough(policy: ClusterPolicy | undefined): boolean {
  return policy?.loadBalancer?.simple === 'PASSTHROUGH';
}

export function dnsInputs(reader: ProxyReader, service: Service, dns: boolean): DnsInputs {
  if (!dns) return { dnsFamily: undefined, dnsRefreshRate: undefined, dnsJitterMs: 0, dnsUdpMaxQueries: 0 };
  return {
    dnsFamily: service.raceFirstTcpConnect ? 'ALL' : dnsFamily(reader),
    dnsRefreshRate: reader.mesh('dnsRefreshRate'),
    dnsJitterMs: reader.feature('PILOT_DNS_JITTER_DURATION'),
    dnsUdpMaxQueries: reader.feature('PILOT_DNS_CARES_UDP_MAX_QUERIES'),
  };
}

/** By the address families of the proxy. */
function dnsFamily(reader: ProxyReader): DnsFamily {
  const mode = reader.facet('ipMode');
  if (mode === 'ipv6') {
    return reader.feature('ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS') ? 'ALL' : 'V6_ONLY';
  }
  return mode === 'dual' && reader.feature('ISTIO_DUAL_STACK') ? 'ALL' : 'V4_ONLY';
}
