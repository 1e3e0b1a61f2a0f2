// Settings that all listeners of a kind share: sockets from flags and the proxy's metadata, timeouts from MeshConfig
// and flags.
// Source: Istio pilot/pkg/networking/core/listener.go (buildListenerFromEntry),
// pilot/pkg/networking/core/listener_builder.go.

import type { ProxyReader } from '../../query/reader.ts';
import type { Duration } from '../../schema/duration.ts';
import { metadataFlag } from '../proxy/proxy-config.ts';

export interface SocketSettings {
  /** 0: no limit. */
  readonly maxConnectionsPerEvent: number;
  readonly exactBalance: boolean;
}

export function socketSettings(
  reader: ProxyReader,
  exactBalance: 'INBOUND_LISTENER_EXACT_BALANCE' | 'OUTBOUND_LISTENER_EXACT_BALANCE',
): SocketSettings {
  return {
    maxConnectionsPerEvent: reader.feature('MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP'),
    exactBalance: metadataFlag(reader, exactBalance),
  };
}

/** How long listener filters may wait for the first bytes of a connection. */
export function protocolDetectionTimeout(reader: ProxyReader): Duration | string | undefined {
  return reader.mesh('protocolDetectionTimeout') as unknown as Duration | string | undefined;
}

/**
 * How long a chain's transport socket may take to be ready, in milliseconds; 0 for no limit. The flag counts for
 * sidecars too, despite its name.
 */
export function transportConnectTimeoutMs(reader: ProxyReader): number {
  return reader.feature('PILOT_GATEWAY_TRANSPORT_SOCKET_CONNECT_TIMEOUT');
}
