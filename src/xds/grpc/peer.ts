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

/** By socket, for all calls on its connection: Node parses the certificate each time it is asked for it. */
const certificates = new WeakMap<TLSSocket, Buffer | undefined>();

function certificateOf(socket: TLSSocket): Buffer | undefined {
  if (!certificates.has(socket)) certificates.set(socket, socket.getPeerX509Certificate()?.raw);
  return certificates.get(socket);
}

/** `192.0.2.1:443`, `[2001:db8::1]:443`, also `ipv6:…` forms and what a Unix socket is called. */
function addressOf(peer: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([^:]+)):[0-9]+$/.exec(peer) ?? [];
  const address = bracketed ?? plain;
  if (address !== undefined) return address.replace(/^::ffff:(?=[0-9]+\.)/, '');
  const [, loose] = /^([0-9a-fA-F:.]+):[0-9]+$/.exec(peer) ?? [];
  return loose?.replace(/^::ffff:(?=[0-9]+\.)/, '') ?? '';
}
