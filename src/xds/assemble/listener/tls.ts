// Transport sockets of listeners: mesh mTLS as one query for all chains, TLS of users by its settings.

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import type { Server, ServerTLSSettings } from '../../../core/schema/istio-types.gen.ts';
import { SERVER_HTTP, serverTcp } from '../../../core/select/listener/alpn.ts';
import { type GatewayTlsInputs, selectGatewayTls, selectServerTls } from '../../../core/select/listener/gateway-tls.ts';
import { meshTlsSettings } from '../../../core/select/listener/mesh-tls.ts';
import { gatewayTls } from '../../generate/listener/gateway-tls.ts';
import { meshTls } from '../../generate/listener/mesh-tls.ts';
import type { TransportSocket } from '../../proto/types.gen.ts';

/** Argument: the protocol inside the chain. */
export const meshTlsSocket: Query<'http' | 'tcp', TransportSocket> = {
  name: 'listener/meshTlsSocket',
  run: (reader, carries) => {
    const alpn = carries === 'http' ? SERVER_HTTP : serverTcp(reader);
    return reader.make(meshTls, { alpn, settings: reader.get(meshTlsSettings, '') });
  },
};

/** Undefined: the proxy cannot serve this. */
export function gatewayTlsSocket(reader: ProxyReader, server: Server, quic: boolean): TransportSocket | undefined {
  return made(reader, selectGatewayTls(reader, server, quic));
}

/** Of a Sidecar's ingress listener; `http`: the TLS carries HTTP. Undefined: the proxy cannot serve this. */
export function serverTlsSocket(
  reader: ProxyReader,
  tls: ServerTLSSettings,
  http: boolean,
): TransportSocket | undefined {
  return made(reader, selectServerTls(reader, tls, http));
}

function made(reader: ProxyReader, inputs: GatewayTlsInputs | undefined): TransportSocket | undefined {
  return inputs === undefined ? undefined : reader.make(gatewayTls, inputs);
}
