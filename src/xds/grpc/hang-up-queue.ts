// Spreads the closing of connections over ticks of the event loop when many clients hang up at once (a load balancer or
// a node goes away). Node closes a connection in the tick in which it reads its end; for a thousand that was one tick
// of 70 to 100 ms. Here the connection stays half open first, and HANG_UPS_PER_TICK are closed in each tick.
//
// This loses nothing: a client that has ended its side of an HTTP/2 connection can neither answer nor request, and
// writes to it fail anyway. Connections that were reset are closed by Node at once.

import type { ServerHttp2Session } from 'node:http2';
import { BatchPerTick } from '../../net/batch-per-tick.ts';

/** About 0.1 ms each. */
export const HANG_UPS_PER_TICK = 50;

/** The part of an HTTP/2 session that is used. `socket` is Node's proxy, which permits these members. */
export type Session = Pick<ServerHttp2Session, 'destroy' | 'destroyed' | 'encrypted'> & {
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
