// Keeps a place free for the next caller, such as a probe of the kubelet: at the limit the connection that has gone
// longest without asking for anything makes room for the new one. Slow or idle clients, however many, hold up only one
// another.

import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';

/** Also the largest number of answers that are written at once. */
export const CONNECTIONS_MAX = 256;

/** Limits a server's connections; requests of a connection are counted through its listeners. */
export function limitConnections(server: Server | SecureServer, connectionsMax: number = CONNECTIONS_MAX): void {
  // By client: the socket of a request over TLS is another one than that of its connection.
  /** Those that ask for nothing now, the longest first; a handshake that is not over is among them. */
  const idle = new Map<string, Socket>();
  const busy = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    if (idle.size + busy.size >= connectionsMax) {
      const [oldest = busy.entries().next().value] = idle;
      if (oldest !== undefined) {
        idle.delete(oldest[0]);
        busy.delete(oldest[0]);
        oldest[1].destroy();
      }
    }
    const client = clientOf(socket);
    idle.set(client, socket);
    socket.once('close', () => {
      if (idle.get(client) === socket) idle.delete(client);
      if (busy.get(client) === socket) busy.delete(client);
    });
  });
  server.on('request', (request, response) => {
    const client = clientOf(request.socket);
    const socket = idle.get(client);
    if (socket === undefined) return;
    idle.delete(client);
    busy.set(client, socket);
    response.once('close', () => {
      if (busy.get(client) !== socket) return;
      busy.delete(client);
      if (!socket.destroyed) idle.set(client, socket);
    });
  });
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`;
}
