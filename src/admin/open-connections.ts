// Keeps a place free for the next caller, such as a probe of the kubelet: at the limit the connection that has gone
// longest without asking for anything makes room for the new one. Slow or idle clients, however many, hold up only one
// another.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Also the largest number of answers that are written at once. */
export const CONNECTIONS_MAX = 256;

/** Limits a server's connections; requests of a connection are counted through its listeners. */
export function limitConnections(server: Server, connectionsMax: number = CONNECTIONS_MAX): void {
  /** Those that ask for nothing now, the longest first. */
  const idle = new Set<Socket>();
  const busy = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    if (idle.size + busy.size >= connectionsMax) {
      const [oldest = busy.values().next().value] = idle;
      if (oldest !== undefined) {
        idle.delete(oldest);
        busy.delete(oldest);
        oldest.destroy();
      }
    }
    idle.add(socket);
    socket.once('close', () => {
      idle.delete(socket);
      busy.delete(socket);
    });
  });
  server.on('request', ({ socket }, response) => {
    if (!idle.delete(socket)) return;
    busy.add(socket);
    response.once('close', () => {
      if (busy.delete(socket) && !socket.destroyed) idle.add(socket);
    });
  });
}
