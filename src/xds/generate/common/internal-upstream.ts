// Connections from a cluster of the proxy to an internal listener of the same proxy, where a tunnel begins or ends: the
// address, and the transport socket that hands metadata over.
// Source: Istio pilot/pkg/networking/util/internal_upstream.go, pilot/pkg/networking/util/util.go
// (BuildInternalAddressWithIdentifier).

import { any } from '../../proto/any.ts';
import type { Address, InternalUpstreamTransport_MetadataValueSource, TransportSocket } from '../../proto/types.gen.ts';

/** Metadata of an endpoint: the address behind the tunnel, and the waypoint that the tunnel leads to. */
export const ORIGINAL_DST_METADATA = 'envoy.filters.listener.original_dst';

const ofHost = (name: string): InternalUpstreamTransport_MetadataValueSource => ({ kind: { host: {} }, name });
const ofCluster = (name: string): InternalUpstreamTransport_MetadataValueSource => ({ kind: { cluster: {} }, name });

/** Of a waypoint's clusters: the tunnel's destination, and metadata of the endpoint. */
export const endpointMetadata = [ofHost(ORIGINAL_DST_METADATA), ofHost('istio')];
/** Of clusters of sidecars and gateways: metadata of the cluster too. */
export const allMetadata = [ofHost(ORIGINAL_DST_METADATA), ofCluster('istio'), ofHost('istio')];

/** `endpointId` tells endpoints behind one listener apart. */
export function internalAddress(serverListenerName: string, endpointId?: string): Address {
  return { envoyInternalAddress: { serverListenerName, endpointId } };
}

export function internalSocket(
  name: string,
  inner: TransportSocket,
  passthroughMetadata?: readonly InternalUpstreamTransport_MetadataValueSource[],
): TransportSocket {
  return {
    name,
    typedConfig: any('envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport', {
      passthroughMetadata,
      transportSocket: inner,
    }),
  };
}

export function rawBuffer(name: string): TransportSocket {
  return { name, typedConfig: any('envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer', {}) };
}
