// The clusters by which a sidecar reaches its own workload. Source: Istio pilot/pkg/networking/core/cluster_builder.go
// (buildInboundCluster).

import type { Problem } from '../../../core/base/problem.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { BindInputs, InboundClusterInputs } from '../../../core/select/cluster/inbound.ts';
import {
  type Address,
  type BindConfig,
  type Cluster,
  Cluster_DiscoveryType,
  Cluster_LbPolicy,
  type Metadata,
} from '../../proto/types.gen.ts';
import { circuitBreakers, connectionOptions, connectTimeout } from './connection-pool.ts';
import { originalPort } from './discovery.ts';
import { describedServices, istioMetadata, rulePath } from './metadata.ts';
import { protocolOptions } from './protocol-options.ts';

/** Go's longest duration: original destinations never expire. */
const NEVER = { seconds: 9_223_372_035, nanos: 0 };
const noProblems: readonly Problem[] = [];

export const inboundCluster: Generator<InboundClusterInputs, Resource<Cluster>> = {
  name: 'cluster/inbound',
  run: inputs => {
    const pool = inputs.connectionPool;
    const message: Cluster = {
      name: inputs.name,
      altStatName: `${inputs.statName};`,
      ...destination(inputs),
      connectTimeout: connectTimeout(inputs.connectTimeout, pool),
      commonLbConfig: {},
      circuitBreakers: circuitBreakers(pool, inputs.retryBudget, inputs.trackRemaining),
      upstreamBindConfig: bindConfig(inputs),
      typedExtensionProtocolOptions: protocolOptions({ ...inputs, autoSni: false, autoSanValidation: false }),
      upstreamConnectionOptions: connectionOptions(inputs.meshKeepalive, pool),
      metadata: metadataOf(inputs),
    };
    return { name: inputs.name, message, problems: noProblems };
  },
};

export function bindConfig(inputs: BindInputs): BindConfig | undefined {
  if (inputs.bindAddress === '') return undefined;
  const extra = { address: { address: inputs.extraBindAddress, portValue: 0 } };
  return {
    sourceAddress: { address: inputs.bindAddress, portValue: 0 },
    ...(inputs.extraBindAddress === '' ? {} : { extraSourceAddresses: [extra] }),
  };
}

function destination(inputs: InboundClusterInputs): Cluster {
  if (inputs.destination === 'passthrough') {
    return {
      type: Cluster_DiscoveryType.ORIGINAL_DST,
      ...originalPort(inputs.portOverride),
      lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED,
      cleanupInterval: NEVER,
    };
  }
  const address: Address =
    inputs.destination === 'pipe'
      ? { pipe: { path: inputs.address } }
      : { socketAddress: { address: inputs.address, portValue: inputs.port } };
  return {
    type: Cluster_DiscoveryType.STATIC,
    loadAssignment: { clusterName: inputs.name, endpoints: [{ lbEndpoints: [{ endpoint: { address } }] }] },
  };
}

function metadataOf(inputs: InboundClusterInputs): Metadata | undefined {
  const services = inputs.serviceHosts.map((host, i) => ({
    host,
    name: inputs.serviceNames[i]!,
    namespace: inputs.serviceNamespaces[i]!,
  }));
  return istioMetadata({
    services: services.length === 0 ? undefined : describedServices(services),
    config: inputs.ruleName === '' ? undefined : rulePath(inputs.ruleNamespace, inputs.ruleName),
  });
}
