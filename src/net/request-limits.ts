// Refuses requests before Node makes anything of them. A client may send thousands in one packet, or one with a body in
// chunks of a byte: Node's parser goes through all that a read of the connection gave, and libuv reads two megabytes of
// each connection in one turn of the event loop.
//
// Invariant: what is refused ends its connection, and nothing behind it is parsed.
//
// Node has no setting for either; the member that is replaced is its own and not documented. Without it requests come
// as Node has them.

import type { IncomingMessage, Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Requests of one connection that are not answered. Probes, Prometheus, browsers and API servers send one at a time.
 */
export const PIPELINED_MAX = 4;

/** Node's parser of the requests of a connection. */
interface Parser {
  /** What it returns is for llhttp: `STOP` stands for an upgrade, behind which there are no requests. */
  onIncoming?: ((request: IncomingMessage, keepAlive: boolean) => number | undefined) | null;
}
const STOP = 2;

const LENGTH_REQUIRED = 'HTTP/1.1 411 Length Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

/**
 * Limits the requests of a server's connections. `takesChunks`: bodies whose length is not given are the server's
 * business; default: they are refused.
 */
export function limitRequests(server: Server | SecureServer, takesChunks = false): void {
  const underWay = new WeakMap<Socket, number>();
  const watch = (socket: Socket): void => {
    const parser = (socket as { readonly parser?: Parser | null }).parser;
    const onIncoming = parser?.onIncoming;
    if (parser === undefined || parser === null || typeof onIncoming !== 'function') return;
    parser.onIncoming = (request, keepAlive) => {
      const count = (underWay.get(socket) ?? 0) + 1;
      const isChunked = !takesChunks && request.headers['transfer-encoding'] !== undefined;
      if (!socket.destroyed && count <= PIPELINED_MAX && !isChunked) {
        underWay.set(socket, count);
        return onIncoming(request, keepAlive);
      }
      // An answer may stand only behind those to the requests before.
      if (isChunked && count === 1) socket.write(LENGTH_REQUIRED, () => socket.destroy());
      else socket.destroy();
      underWay.set(socket, PIPELINED_MAX);
      return STOP;
    };
  };
  server.on('connection', watch);
  server.on('secureConnection', watch);
  server.on('request', ({ socket }, response) => {
    response.once('close', () => underWay.set(socket, Math.max(0, (underWay.get(socket) ?? 0) - 1)));
  });
}
