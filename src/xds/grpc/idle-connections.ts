// Connections without an open call, on all ports of the xDS server: a client that shakes hands, or sends pings and
// settings, and calls nothing. Keepalive does not end them as long as they answer, and no limit of streams counts them.
//
// Invariants: a connection with an open call is never closed here. Past the limit the address with the most such
// connections loses the one that has been idle longest, so a crowd of one address costs others nothing. A connection is
// sent a GOAWAY before it is closed, and its client connects again for the next call, as clients of gRPC do: an agent
// asks for a certificate twice a day.
//
// The method that is replaced serves sessions of servers without channelz; it is not part of grpc-js's public API, and
// grpc-js is pinned to a version.

import assert from 'node:assert';
import type { ServerHttp2Session } from 'node:http2';
import type { Server } from '@grpc/grpc-js';
import type { HostClock, HostTimer } from '../serve/host.ts';

/** Connections without an open call; one in TLS takes some 60 KB. */
export const IDLE_CONNECTIONS_MAX = 2_048;
/** How long a connection may be without one. */
export const IDLE_MS_MAX = 300_000;
/** How long after the GOAWAY a client may take to end the connection. */
export const GOING_MS_MAX = 10_000;

/** The part of an HTTP/2 session that is used. */
export type IdleSession = Pick<ServerHttp2Session, 'close' | 'destroy' | 'destroyed'> & {
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined;
  on(event: 'stream', listener: (stream: { once(event: 'close', listener: () => void): unknown }) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
};

interface Connection {
  readonly session: IdleSession;
  readonly peer: string;
  calls: number;
  timer?: HostTimer;
}

export class IdleConnections {
  readonly #clock: HostClock;
  readonly #max: number;
  /** By address; those that have been idle longest first. */
  readonly #idle = new Map<string, Set<Connection>>();
  #size = 0;

  constructor(clock: HostClock, max = IDLE_CONNECTIONS_MAX) {
    this.#clock = clock;
    this.#max = max;
  }

  /** Connections without an open call. */
  get size(): number {
    return this.#size;
  }

  /** Before the server has any connection. `opened` gets every session. */
  attach(server: Server, opened: (session: ServerHttp2Session) => void = () => undefined): void {
    type Handler = (session: ServerHttp2Session) => void;
    const inside = server as unknown as { _sessionHandler?: (http2Server: unknown) => Handler };
    const handlerOf = inside._sessionHandler;
    assert(typeof handlerOf === 'function', 'grpc-js hands HTTP/2 sessions on otherwise than this was written for');
    inside._sessionHandler = http2Server => {
      const handle = handlerOf.call(server, http2Server);
      return session => {
        handle(session);
        opened(session);
        this.watch(session);
      };
    };
  }

  watch(session: IdleSession): void {
    const connection: Connection = { session, peer: session.socket?.remoteAddress ?? '', calls: 0 };
    session.on('stream', stream => {
      if (connection.calls++ === 0) this.#forget(connection);
      stream.once('close', () => {
        if (--connection.calls === 0 && !session.destroyed) this.#add(connection);
      });
    });
    session.once('close', () => this.#forget(connection));
    if (!session.destroyed) this.#add(connection);
  }

  #add(connection: Connection): void {
    const { peer } = connection;
    const alike = this.#idle.get(peer) ?? new Set();
    this.#idle.set(peer, alike.add(connection));
    this.#size++;
    connection.timer = this.#clock.after(IDLE_MS_MAX, () => this.#close(connection));
    if (this.#size > this.#max) this.#makeRoom();
  }

  #forget(connection: Connection): void {
    connection.timer?.cancel();
    const alike = this.#idle.get(connection.peer);
    if (alike?.delete(connection) !== true) return;
    this.#size--;
    if (alike.size === 0) this.#idle.delete(connection.peer);
  }

  #makeRoom(): void {
    let most: ReadonlySet<Connection> = new Set();
    for (const alike of this.#idle.values()) if (alike.size > most.size) most = alike;
    const [oldest] = most;
    if (oldest !== undefined) this.#close(oldest);
  }

  #close(connection: Connection): void {
    this.#forget(connection);
    const { session } = connection;
    session.close();
    const timer = this.#clock.after(GOING_MS_MAX, () => session.destroy());
    session.once('close', () => timer.cancel());
  }
}
