// Clusters that open HBONE tunnels, and clusters that lead to internal listeners of the proxy, where tunnels begin or
// end.
// Source: Istio pilot/pkg/networking/core/cluster_waypoint.go (buildConnectOriginate, buildInternalUpstreamCluster).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Duration } from '../../../core/schema/duration.ts';
import { HBONE_PORT } from '../../../core/select/ambient/waypoints.ts';
import type { InternalClusterInputs, TunnelInputs, TunnelOpenerInputs } from '../../../core/select/cluster/tunnels.ts';
import { any } from '../../proto/any.ts';
import {
  type Cluster,
  Cluster_DiscoveryType,
  Cluster_LbPolicy,
  type CommonTlsContext,
  type TransportSocket,
} from '../../proto/types.gen.ts';
import { internalAddress, internalSocket, ORIGINAL_DST_METADATA, rawBuffer } from '../common/internal-upstream.ts';
import { tunnelTls } from '../common/tunnel-tls.ts';
import { circuitBreakers, positive } from './connection-pool.ts';
import { passthroughOptionsOf, type TypedOptions, typedOptions } from './protocol-options.ts';

const CLEANUP_INTERVAL: Duration = { seconds: 60, nanos: 0 };

/** Opens a tunnel to the original destination of a connection. */
export const tunnelOpener: Generator<TunnelOpenerInputs, Resource<Cluster>> = {
  name: 'cluster/tunnelOpener',
  run: inputs =>
    resource({
      name: inputs.name,
      altStatName: `${inputs.name};`,
      type: Cluster_DiscoveryType.ORIGINAL_DST,
      lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED,
      connectTimeout: inputs.connectTimeout,
      cleanupInterval: CLEANUP_INTERVAL,
      circuitBreakers: circuitBreakers(undefined, undefined, inputs.trackRemaining),
      originalDstLbConfig: {
        upstreamPortOverride: { value: HBONE_PORT },
        metadataKey: inputs.throughWaypoint ? waypointKey : undefined,
      },
      typedExtensionProtocolOptions: tunnelOptions(inputs),
      transportSocket: tlsSocket(tunnelTls(inputs.tls, inputs.morePeers)),
    }),
};

const waypointKey = { key: ORIGINAL_DST_METADATA, path: [{ key: 'waypoint' }] };

/** Leads to an internal listener. */
export const internalCluster: Generator<InternalClusterInputs, Resource<Cluster>> = {
  name: 'cluster/internal',
  run: inputs =>
    resource({
      ...toListener(inputs),
      typedExtensionProtocolOptions: passthroughOptionsOf(false),
      transportSocket: internalSocket('internal_upstream', rawBuffer('raw_buffer')),
    }),
};

/** Opens a tunnel on the way to an internal listener, which puts it into another one. */
export const innerTunnelOpener: Generator<TunnelInputs & InternalClusterInputs, Resource<Cluster>> = {
  name: 'cluster/innerTunnelOpener',
  run: inputs =>
    resource({
      ...toListener(inputs),
      typedExtensionProtocolOptions: tunnelOptions(inputs),
      transportSocket: internalSocket('internal_upstream_with_tls', tlsSocket(tunnelTls(inputs.tls))),
    }),
};

function toListener({ name, listener, trackRemaining }: InternalClusterInputs): Cluster & { readonly name: string } {
  return {
    name,
    altStatName: `${name};`,
    type: Cluster_DiscoveryType.STATIC,
    circuitBreakers: circuitBreakers(undefined, undefined, trackRemaining),
    loadAssignment: {
      clusterName: name,
      endpoints: [{ lbEndpoints: [{ endpoint: { address: internalAddress(listener) } }] }],
    },
  };
}

function tunnelOptions({ idleTimeout, streamWindow, connectionWindow, unshared }: TunnelInputs): TypedOptions {
  return typedOptions({
    commonHttpProtocolOptions: { idleTimeout, maxRequestsPerConnection: unshared ? { value: 1 } : undefined },
    explicitHttpConfig: {
      http2ProtocolOptions: {
        allowConnect: true,
        initialStreamWindowSize: windowSize(streamWindow),
        initialConnectionWindowSize: windowSize(connectionWindow),
      },
    },
  });
}

function windowSize(bytes: number): { readonly value: number } | undefined {
  const value = positive(bytes);
  return value === undefined ? undefined : { value };
}

function tlsSocket(commonTlsContext: CommonTlsContext): TransportSocket {
  return {
    name: 'tls',
    typedConfig: any('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', { commonTlsContext }),
  };
}

function resource(message: Cluster & { readonly name: string }): Resource<Cluster> {
  return { name: message.name, message, problems: [] };
}
