// Small pieces that every listener is made of: addresses, names, metadata of where a chain comes from.

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

/** `<bind>_<port>` */
export function listenerName(bind: string, port: number): string {
  return `${bind}_${port}`;
}

/** The same of UDP. */
export function udpAddress(bind: string, port: number): Address {
  return { socketAddress: { address: bind, portValue: port, protocol: SocketAddress_Protocol.UDP } };
}

export function additionalAddresses(binds: readonly string[], port: number): readonly AdditionalAddress[] | undefined {
  if (binds.length === 0) return undefined;
  return binds.map(bind => ({ address: listenerAddress(bind, port) }));
}

export type ConfigResource = 'virtual-service' | 'sidecar';

/** The object that a chain comes of, as istioctl and telemetry know it. */
export function configMetadata(resource: ConfigResource, namespace: string, name: string): Metadata {
  const config = `/apis/networking.istio.io/v1/namespaces/${namespace}/${resource}/${name}`;
  return { filterMetadata: { istio: { config } } };
}

/** Fields of a listener that depend on settings of the proxy and of the control plane. */
export interface SocketSettings {
  readonly maxConnectionsPerEvent: number;
  readonly exactBalance: boolean;
}

export function socketFields(settings: SocketSettings): Partial<Listener> {
  return {
    maxConnectionsToAcceptPerSocketEvent:
      settings.maxConnectionsPerEvent === 0 ? undefined : { value: settings.maxConnectionsPerEvent },
    connectionBalanceConfig: settings.exactBalance ? { exactBalance: {} } : undefined,
  };
}
