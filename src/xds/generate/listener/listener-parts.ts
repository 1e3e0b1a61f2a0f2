// Parts of every listener: addresses, socket settings, and the metadata that names the object a chain comes from.

import type { SocketSettings } from '../../../core/select/listener/listener-settings.ts';
import {
  type AdditionalAddress,
  type Address,
  type Listener,
  type Metadata,
  SocketAddress_Protocol,
} from '../../proto/types.gen.ts';

const UNIX_PREFIX = 'unix://';

/** Port 0 with a bind means a Unix domain socket. */
export function listenerAddress(bind: string, port: number): Address {
  if (port === 0 && bind.startsWith(UNIX_PREFIX)) return { pipe: { path: bind.slice(UNIX_PREFIX.length) } };
  return { socketAddress: { address: bind, portValue: port } };
}

/** As `listenerAddress`, for UDP. */
export function udpAddress(bind: string, port: number): Address {
  return { socketAddress: { address: bind, portValue: port, protocol: SocketAddress_Protocol.UDP } };
}

export function additionalAddresses(binds: readonly string[], port: number): readonly AdditionalAddress[] | undefined {
  if (binds.length === 0) return undefined;
  return binds.map(bind => ({ address: listenerAddress(bind, port) }));
}

export type ConfigResource = 'virtual-service' | 'sidecar';

/** Names the object that a chain comes from, as istioctl and telemetry expect it. */
export function configMetadata(resource: ConfigResource, namespace: string, name: string): Metadata {
  const config = `/apis/networking.istio.io/v1/namespaces/${namespace}/${resource}/${name}`;
  return { filterMetadata: { istio: { config } } };
}

export function socketFields(settings: SocketSettings): Partial<Listener> {
  return {
    maxConnectionsToAcceptPerSocketEvent:
      settings.maxConnectionsPerEvent === 0 ? undefined : { value: settings.maxConnectionsPerEvent },
    connectionBalanceConfig: settings.exactBalance ? { exactBalance: {} } : undefined,
  };
}
