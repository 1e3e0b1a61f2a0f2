// The cluster of a service port and subset. Source: Istio pilot/pkg/networking/core/cluster_builder.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { OutboundClusterInputs } from '../../../core/select/cluster/outbound.ts';
import {
  type Cluster,
  type Cluster_CommonLbConfig,
  Cluster_LbPolicy,
  type ClusterLoadAssignment,
  HealthStatus,
  type Metadata,
} from '../../proto/types.gen.ts';
import { pickedHosts } from '../common/endpoint-picker.ts';
import { circuitBreakers, connectionOptions, connectTimeout } from './connection-pool.ts';
import { type DiscoveryFields, discovery } from './discovery.ts';
import { type LoadBalancing, loadBalancing } from './load-balancer.ts';
import { describedServices, istioMetadata, rulePath } from './metadata.ts';
import { metadataExchangeFilter } from './metadata-exchange.ts';
import { outlierDetection, panicThreshold } from './outlier-detection.ts';
import { protocolOptions } from './protocol-options.ts';
import { type UpstreamSockets, withProxyProtocol, withTunnels } from './upstream-tls.ts';

/** The selected inputs with the parts that have generators of their own. */
export type OutboundParts = OutboundClusterInputs<UpstreamSockets, ClusterLoadAssignment>;

export const outboundCluster: Generator<OutboundParts, Resource<Cluster>> = {
  name: 'cluster/outbound',
  run: inputs => {
    const pool = inputs.connectionPool;
    const options = protocolOptions(inputs);
    const upstream = connectionOptions(inputs.meshKeepalive, pool);
    const metadata = metadataOf(inputs);
    const found = discovery(inputs, inputs.assignment);
    const balanced = balancing(inputs);
    const { transportSocket, transportSocketMatches } = sockets(inputs);
    // Written out: of all messages there are most of these, and objects put together by spreading cost many times as
    // much.
    const message = {
      name: inputs.name,
      altStatName: `${inputs.statName};`,
      type: found.type,
      clusterType: found.clusterType,
      edsClusterConfig: found.edsClusterConfig,
      originalDstLbConfig: found.originalDstLbConfig,
      loadAssignment: found.loadAssignment,
      dnsLookupFamily: found.dnsLookupFamily,
      dnsRefreshRate: found.dnsRefreshRate,
      dnsJitter: found.dnsJitter,
      respectDnsTtl: found.respectDnsTtl,
      typedDnsResolverConfig: found.typedDnsResolverConfig,
      connectTimeout: connectTimeout(inputs.connectTimeout, pool),
      circuitBreakers: circuitBreakers(pool, inputs.retryBudget, inputs.trackRemaining),
      typedExtensionProtocolOptions: options,
      upstreamConnectionOptions: upstream,
      outlierDetection: balanced.outlierDetection,
      lbPolicy: balanced.lbPolicy,
      leastRequestLbConfig: balanced.leastRequestLbConfig,
      roundRobinLbConfig: balanced.roundRobinLbConfig,
      ringHashLbConfig: balanced.ringHashLbConfig,
      maglevLbConfig: balanced.maglevLbConfig,
      loadBalancingPolicy: balanced.loadBalancingPolicy,
      commonLbConfig: balanced.commonLbConfig,
      transportSocket,
      transportSocketMatches,
      filters: inputs.exchangeMetadata ? [metadataExchangeFilter(inputs.exchangeLabels)] : undefined,
      metadata,
    } satisfies Cluster & Record<keyof DiscoveryFields | keyof Balancing | keyof Sockets, unknown>;
    return { name: inputs.name, message, problems: inputs.problems };
  },
};

type Balancing = LoadBalancing & Pick<Cluster, 'outlierDetection' | 'commonLbConfig' | 'loadBalancingPolicy'>;

function balancing(inputs: OutboundParts): Balancing {
  const ejection = inputs.outlierDetection === undefined ? undefined : outlierDetection(inputs.outlierDetection);
  if (inputs.discovery === 'FORWARD_PROXY') return { outlierDetection: ejection, ...clusterProvided };
  const algorithm =
    inputs.discovery === 'ORIGINAL_DST' ? clusterProvided : loadBalancing(inputs.loadBalancer, inputs.hashesKeys);
  return {
    outlierDetection: ejection,
    lbPolicy: inputs.picksEndpoints ? Cluster_LbPolicy.CLUSTER_PROVIDED : algorithm.lbPolicy,
    leastRequestLbConfig: algorithm.leastRequestLbConfig,
    roundRobinLbConfig: algorithm.roundRobinLbConfig,
    ringHashLbConfig: algorithm.ringHashLbConfig,
    maglevLbConfig: algorithm.maglevLbConfig,
    loadBalancingPolicy: inputs.picksEndpoints ? pickedHosts : undefined,
    commonLbConfig: commonLbConfig(inputs),
  };
}

const clusterProvided: LoadBalancing = { lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED };
const noLbConfig: Cluster_CommonLbConfig = {};
const sessions = [HealthStatus.HEALTHY, HealthStatus.DRAINING, HealthStatus.UNKNOWN, HealthStatus.DEGRADED];

function commonLbConfig(inputs: OutboundParts): Cluster_CommonLbConfig {
  const { outlierDetection: outlier, sendsUnhealthy, localityWeighted, keepsSessions } = inputs;
  const panics = outlier !== undefined || sendsUnhealthy;
  // Envoy takes no weights of localities beside a load balancing policy.
  const weighted = localityWeighted && !inputs.picksEndpoints;
  if (!panics && !weighted && !keepsSessions) return noLbConfig;
  return {
    healthyPanicThreshold: panics ? panicThreshold(outlier ?? {}, sendsUnhealthy) : undefined,
    localityWeightedLbConfig: weighted ? {} : undefined,
    overrideHostStatus: keepsSessions ? { statuses: sessions } : undefined,
  };
}

type Sockets = Pick<Cluster, 'transportSocket' | 'transportSocketMatches'>;

function sockets(inputs: OutboundParts): Sockets {
  const { proxyProtocol } = inputs;
  const bare = inputs.tunnels ? withTunnels(inputs.sockets ?? {}) : (inputs.sockets ?? {});
  const { socket, matches } = proxyProtocol === undefined ? bare : withProxyProtocol(bare, proxyProtocol);
  return { transportSocket: socket, transportSocketMatches: matches };
}

function metadataOf(inputs: OutboundParts): Metadata | undefined {
  const described = { host: inputs.serviceHost, name: inputs.serviceName, namespace: inputs.serviceNamespace };
  // In the order in which they are encoded.
  return istioMetadata({
    alpn_override: inputs.overridesAlpn ? 'false' : undefined,
    config: inputs.ruleName === '' ? undefined : rulePath(inputs.ruleNamespace, inputs.ruleName),
    disable_mx: inputs.captured ? true : undefined,
    external: inputs.external ? true : undefined,
    services: inputs.serviceHost === '' ? undefined : describedServices([described]),
    subset: inputs.subset === '' ? undefined : inputs.subset,
  });
}
