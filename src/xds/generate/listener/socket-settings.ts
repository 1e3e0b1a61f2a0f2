// Settings of a listening socket that come from flags and from the proxy's metadata (spec-listeners §1.3).

import type { ProxyReader } from '../../../core/query/reader.ts';
import { metadataFlag } from '../../../core/select/proxy/proxy-config.ts';
import type { SocketSettings } from './listener-parts.ts';

export function socketSettings(
  reader: ProxyReader,
  exactBalance: 'INBOUND_LISTENER_EXACT_BALANCE' | 'OUTBOUND_LISTENER_EXACT_BALANCE',
): SocketSettings {
  return {
    maxConnectionsPerEvent: reader.feature('MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP'),
    exactBalance: metadataFlag(reader, exactBalance),
  };
}
