// A port in the clear whose connections grpc-js serves. Each one costs an HTTP/2 session and a first stream, half a
// millisecond in all. They begin in turns, until the first call has come: a thousand proxies that connect at once would
// otherwise be one turn of the event loop.

import { createServer, type Server } from 'node:net';
import type { ConnectionInjector } from '@grpc/grpc-js';
import { listen } from '../../net/listen.ts';
import type { InHand } from '../serve/admission-gate.ts';
import type { HostClock } from '../serve/host.ts';
import { ConnectionTurns } from './connection-turns.ts';

export interface PlainPortOptions {
  readonly clock: HostClock;
  readonly log: (level: 'warn', message: string) => void;
  /** Default: CONNECTIONS_MAX. */
  readonly connectionsMax?: number;
  /** Default: CONNECTIONS_IN_HAND. */
  readonly inHand?: InHand;
}

/** The part of the XdsServer that is used. */
export interface Calls {
  injector(): ConnectionInjector;
  /** `listener` gets the client's address and port. */
  onCall(listener: (client: string) => void): void;
}

/** A client that sends nothing for this time is closed. */
export const SILENT_MS_MAX = 10_000;
/** Connections accepted and without a call; further ones are closed. */
export const CONNECTIONS_MAX = 16_384;
/** Connections that wait for their first call at once, and for how long each before others have their turns. */
export const CONNECTIONS_IN_HAND: InHand = { max: 32, ofPeer: 24, msMax: 100 };
/** Connections that become HTTP/2 sessions in one tick of the event loop. */
export const CONNECTIONS_PER_TICK = 8;

export class PlainPort {
  readonly #options: PlainPortOptions;
  readonly #listener: Server;

  constructor(server: Calls, options: PlainPortOptions) {
    this.#options = options;
    const injector = server.injector();
    const { clock, connectionsMax = CONNECTIONS_MAX, inHand = CONNECTIONS_IN_HAND } = options;
    const turns = new ConnectionTurns({
      ...{ clock, inHand, perTick: CONNECTIONS_PER_TICK, underWayMax: connectionsMax, msMax: SILENT_MS_MAX },
      begin: ({ socket }) => injector.injectConnection(socket),
    });
    server.onCall(client => {
      const connection = turns.find(client);
      if (connection !== undefined) turns.letGo(connection);
    });
    this.#listener = createServer(socket => turns.accept(socket));
  }

  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    const { log } = this.#options;
    return listen(this.#listener, { host, port }, message => log('warn', `the port in the clear: ${message}`));
  }

  /** No new connections; those that are there are the server's. */
  close(): void {
    this.#listener.close();
  }
}
