// How Envoy finds the endpoints of an outbound cluster: EDS, DNS, the connection's original destination, or the
// requested name.
// Source: Istio pilot/pkg/networking/core/cluster_builder.go.

import type { Duration } from '../../../core/schema/duration.ts';
import type { DnsInputs } from '../../../core/select/cluster/discovery.ts';
import type { OutboundClusterInputs } from '../../../core/select/cluster/outbound.ts';
import { any } from '../../proto/any.ts';
import {
  ApiVersion,
  type Cluster,
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
  type ClusterLoadAssignment,
  type ConfigSource,
} from '../../proto/types.gen.ts';

const edsConfig: ConfigSource = {
  ads: {},
  initialFetchTimeout: { seconds: 0, nanos: 0 },
  resourceApiVersion: ApiVersion.V3,
};

const families = {
  V4_ONLY: Cluster_DnsLookupFamily.V4_ONLY,
  V6_ONLY: Cluster_DnsLookupFamily.V6_ONLY,
  ALL: Cluster_DnsLookupFamily.ALL,
} as const;

export type DiscoveryFields = Pick<
  Cluster,
  | 'type'
  | 'clusterType'
  | 'edsClusterConfig'
  | 'originalDstLbConfig'
  | 'loadAssignment'
  | 'dnsLookupFamily'
  | 'dnsRefreshRate'
  | 'dnsJitter'
  | 'respectDnsTtl'
  | 'typedDnsResolverConfig'
>;

/** The fields that belong to the discovery type. `assignment`: the endpoints of a DNS type cluster. */
export function discovery(
  inputs: OutboundClusterInputs,
  assignment: ClusterLoadAssignment | undefined,
): DiscoveryFields {
  switch (inputs.discovery) {
    case 'EDS':
      return {
        type: Cluster_DiscoveryType.EDS,
        edsClusterConfig: { serviceName: inputs.name, edsConfig },
      };
    case 'ORIGINAL_DST':
      return {
        type: Cluster_DiscoveryType.ORIGINAL_DST,
        ...originalPort(inputs.portOverride),
        ...(inputs.dnsFamily === undefined ? {} : dns(inputs)),
      };
    case 'STRICT_DNS':
      return { type: Cluster_DiscoveryType.STRICT_DNS, ...dns(inputs), loadAssignment: assignment };
    case 'LOGICAL_DNS':
      return { type: Cluster_DiscoveryType.LOGICAL_DNS, ...dns(inputs), loadAssignment: assignment };
    case 'FORWARD_PROXY':
      return { clusterType: forwardProxy(inputs) };
  }
}

/** 0: the port of the original destination stays. */
export function originalPort(override: number): Pick<Cluster, 'originalDstLbConfig'> {
  return override === 0 ? {} : { originalDstLbConfig: { upstreamPortOverride: { value: override } } };
}

function dns(inputs: DnsInputs): DiscoveryFields {
  return {
    dnsLookupFamily: inputs.dnsFamily === undefined ? undefined : families[inputs.dnsFamily],
    dnsRefreshRate: inputs.dnsRefreshRate,
    dnsJitter: milliseconds(inputs.dnsJitterMs),
    respectDnsTtl: true,
    typedDnsResolverConfig: {
      name: 'envoy.network.dns_resolver.cares',
      typedConfig: any('envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig', {
        udpMaxQueries: { value: inputs.dnsUdpMaxQueries },
      }),
    },
  };
}

/** A host is resolved on demand. As in Istio, IPv4 only, for proxies of every address family. */
function forwardProxy(inputs: OutboundClusterInputs): Cluster['clusterType'] {
  const insecure = inputs.speaksTls && !(inputs.autoSni && inputs.autoSanValidation);
  return {
    name: 'envoy.clusters.dynamic_forward_proxy',
    typedConfig: any('envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig', {
      dnsCacheConfig: {
        name: `${inputs.hostname}_dfp_dns_cache`,
        dnsLookupFamily: Cluster_DnsLookupFamily.V4_ONLY,
      },
      ...(insecure ? { allowInsecureClusterOptions: true } : {}),
    }),
  };
}

function milliseconds(total: number): Duration {
  const seconds = Math.trunc(total / 1000);
  return { seconds, nanos: (total - seconds * 1000) * 1_000_000 };
}
