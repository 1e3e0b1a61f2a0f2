// Clusters that belong to no service: they drop traffic, pass it through as addressed, or serve
// credentials.
// Source: Istio pilot/pkg/networking/core/cluster_builder.go (buildBlackHoleCluster, buildDefaultPassthroughCluster,
// buildInboundPassthroughCluster, buildExternalSDSCluster).

import type { Problem } from '../../../core/base/problem.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import {
  BLACK_HOLE_CLUSTER,
  CREDENTIAL_SDS_CLUSTER,
  INBOUND_PASSTHROUGH_CLUSTER,
  PASSTHROUGH_CLUSTER,
} from '../../../core/select/cluster/cluster-names.ts';
import type { CommonClusterInputs } from '../../../core/select/cluster/common.ts';
import type {
  InboundPassthroughInputs,
  PassthroughInputs,
  TimeoutInputs,
} from '../../../core/select/cluster/special.ts';
import { type Cluster, Cluster_DiscoveryType, Cluster_LbPolicy } from '../../proto/types.gen.ts';
import { circuitBreakers, connectionOptions } from './connection-pool.ts';
import { bindConfig } from './inbound.ts';
import { metadataExchangeFilter } from './metadata-exchange.ts';
import { passthroughOptionsOf, typedOptions } from './protocol-options.ts';

/** The socket of a credential provider, as Istio mounts it. */
const CREDENTIAL_SOCKET_PATH = './var/run/secrets/credential-uds/socket';
const noProblems: readonly Problem[] = [];

/** Traffic without a destination ends here. */
export const blackHoleCluster: Generator<TimeoutInputs, Resource<Cluster>> = {
  name: 'cluster/blackHole',
  run: ({ connectTimeout }) =>
    resource({
      name: BLACK_HOLE_CLUSTER,
      altStatName: `${BLACK_HOLE_CLUSTER};`,
      type: Cluster_DiscoveryType.STATIC,
      connectTimeout,
    }),
};

/** Traffic to addresses that the mesh does not know goes where it was going. */
export const passthroughCluster: Generator<PassthroughInputs, Resource<Cluster>> = {
  name: 'cluster/passthrough',
  run: inputs =>
    resource({
      ...passthrough(inputs, inputs.headerCase),
      name: PASSTHROUGH_CLUSTER,
      filters: inputs.exchangeMetadata ? [metadataExchangeFilter(inputs.exchangeLabels)] : undefined,
    }),
};

/**
 * Traffic to ports of the workload that no service has. Its statistics go under the name of the outbound one, as
 * Istio's do.
 */
export const inboundPassthroughCluster: Generator<InboundPassthroughInputs, Resource<Cluster>> = {
  name: 'cluster/inboundPassthrough',
  run: inputs =>
    resource({
      ...passthrough(inputs, inputs.headerCase),
      name: INBOUND_PASSTHROUGH_CLUSTER,
      upstreamBindConfig: bindConfig(inputs),
    }),
};

/** The server of credentials behind a socket that is mounted into the proxy. */
export const credentialCluster: Generator<TimeoutInputs, Resource<Cluster>> = {
  name: 'cluster/credential',
  run: ({ connectTimeout }) =>
    resource({
      name: CREDENTIAL_SDS_CLUSTER,
      altStatName: `${CREDENTIAL_SDS_CLUSTER};`,
      type: Cluster_DiscoveryType.STATIC,
      connectTimeout,
      loadAssignment: {
        clusterName: CREDENTIAL_SDS_CLUSTER,
        endpoints: [{ lbEndpoints: [{ endpoint: { address: { pipe: { path: CREDENTIAL_SOCKET_PATH } } } }] }],
      },
      typedExtensionProtocolOptions: typedOptions({ explicitHttpConfig: { http2ProtocolOptions: {} } }),
    }),
};

function passthrough(inputs: CommonClusterInputs, headerCase: boolean): Cluster {
  return {
    altStatName: `${PASSTHROUGH_CLUSTER};`,
    type: Cluster_DiscoveryType.ORIGINAL_DST,
    lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED,
    connectTimeout: inputs.connectTimeout,
    circuitBreakers: circuitBreakers(undefined, undefined, inputs.trackRemaining),
    upstreamConnectionOptions: connectionOptions(inputs.meshKeepalive, undefined),
    typedExtensionProtocolOptions: passthroughOptionsOf(headerCase),
  };
}

function resource(message: Cluster & { readonly name: string }): Resource<Cluster> {
  return { name: message.name, message, problems: noProblems };
}
