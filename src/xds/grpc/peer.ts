// Who is at the other end of a call, as far as the wire says: address, headers, and the certificate that the
// handshake has verified.

import { TLSSocket } from 'node:tls';
import type { Metadata } from '@grpc/grpc-js';
import type { Peer } from '../../core/model/caller.ts';

/** What grpc-js calls streams and unary calls have in common. */
export interface AnyCall {
  readonly metadata: Metadata;
  getPeer(): string;
}

/** The socket below a call; undefined where grpc-js hides it otherwise than it does now (its version is pinned). */
interface SocketHolder {
  readonly call?: { readonly stream?: { readonly session?: { readonly socket?: unknown } } };
}

export function peerOf(call: AnyCall): Peer {
  const socket = (call as unknown as SocketHolder).call?.stream?.session?.socket;
  const tls = socket instanceof TLSSocket ? socket : undefined;
  const certificate = tls?.authorized === true ? certificateOf(tls) : undefined;
  return {
    address: addressOf(call.getPeer()),
    secure: tls !== undefined,
    ...(certificate === undefined ? {} : { certificate }),
    header: name => call.metadata.get(name).map(String),
  };
}

/** A property of the socket, since what an HTTP/2 session shows of it is a proxy. */
const CERTIFICATE = Symbol('client certificate');

interface Known {
  /** Null: the client presented none. */
  [CERTIFICATE]?: Buffer | null;
}

/**
 * DER of the certificate that the client presented; undefined: none. Read once for all calls on the connection, and not
 * as an X509Certificate: for that Node parses the certificates of the client's chain anew.
 */
export function certificateOf(socket: TLSSocket): Buffer | undefined {
  const known = socket as TLSSocket & Known;
  // Not by `in`: the proxy looks at the session for that.
  if (known[CERTIFICATE] === undefined) {
    // The second question is for a certificate that Node cannot describe: it is no client without one.
    known[CERTIFICATE] = socket.getPeerCertificate()?.raw ?? socket.getPeerX509Certificate()?.raw ?? null;
  }
  return known[CERTIFICATE] ?? undefined;
}

/** `192.0.2.1:443`, `[2001:db8::1]:443`, also `ipv6:…` forms and what a Unix socket is called. */
function addressOf(peer: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+)):[0-9]+$/.exec(peer) ?? [];
  const address = bracketed ?? plain;
  if (address !== undefined) return address.replace(/^::ffff:(?=[0-9]+\.)/, '');
  const [, loose] = /^([0-9a-fA-F:.]+):[0-9]+$/.exec(peer) ?? [];
  return loose?.replace(/^::ffff:(?=[0-9]+\.)/, '') ?? '';
}
