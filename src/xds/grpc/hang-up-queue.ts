// Clients that hang up all at once, as when a load balancer or a node goes away. Node answers the end of a connection by closing it in the very turn of the
// event loop in which the end was read: with a thousand of them that was one turn of 70 to 100 ms. Here the connection stays half open at first, and so many
// are closed a turn.
//
// Nothing is lost by that: a client that has ended its side of an HTTP/2 connection can neither answer nor ask, and what is written to it meanwhile
// fails as it would anyway. Connections that were reset are closed by Node itself, at once.

import type { ServerHttp2Session } from 'node:http2';
import { BatchPerTick } from '../serve/batch-per-tick.ts';

/** About 0.1 ms each. */
export const HANG_UPS_PER_TICK = 50;

/** What is used of an HTTP/2 session; `socket` is Node's proxy of the socket, which lets through what is done here. */
export type Session = Pick<ServerHttp2Session, 'destroy' | 'destroyed'> & {
  readonly socket: { allowHalfOpen: boolean; on(event: 'end', listener: () => void): unknown };
};

export class HangUpQueue {
  readonly #watched = new WeakSet<Session>();
  readonly #ended = new BatchPerTick<Session>(HANG_UPS_PER_TICK, session => session.destroy());

  /** Idempotent. */
  watch(session: Session): void {
    if (this.#watched.has(session) || session.destroyed) return;
    this.#watched.add(session);
    const { socket } = session;
    socket.allowHalfOpen = true;
    socket.on('end', () => this.#ended.add(session));
  }
}
