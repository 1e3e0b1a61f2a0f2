// The begin of connections, in turns: each one stands in a queue from its first bytes on, and few are in hand at once,
// until what they were let in for is done (a TLS handshake, a first stream). A thousand clients that come at once delay
// nothing else for long, and a silent one takes no turn from others.
//
// Invariant: of connections under way only those in hand are read from, the others up to what Node reads ahead; libuv
// reads every connection that has bytes in one turn of the event loop. One whose turn is over is read from now and then
// (`ReadInTurns`).

import type { Socket } from 'node:net';
import { BatchPerTick } from '../../net/batch-per-tick.ts';
import { AdmissionGate, type InHand, type Release } from '../serve/admission-gate.ts';
import type { HostClock, HostTimer } from '../serve/host.ts';
import { ReadInTurns, resumeReading } from './held-reading.ts';

/** How long a client waits for its turn: as long as clients of gRPC wait for a connection (MIN_CONNECT_TIMEOUT). */
export const TURN_WAIT_MS_MAX = 20_000;

export interface ConnectionTurnsOptions {
  readonly clock: HostClock;
  /** Those in hand, and for how long each: then its client is far away, and others have their turns. */
  readonly inHand: InHand;
  /** Connections that begin in one tick of the event loop. */
  readonly perTick: number;
  /** Connections under way; further ones are closed. */
  readonly underWayMax: number;
  /** A client that sends nothing for this time is closed; one that is not done as long after its turn is let go. */
  readonly msMax: number;
  /** It has its turn, and is paused. */
  readonly begin: (connection: Connection) => void;
  /** Connections whose turns are over are read elsewhere, and closed after `msMax`. Default: neither. */
  readonly readsSlowOnes?: boolean;
}

/** A connection that is under way. */
export interface Connection {
  /** Address and port. */
  readonly client: string;
  readonly socket: Socket;
  isDone: boolean;
  /** Its turn is over, and it is read from now and then. */
  isSlow: boolean;
  /** Gives its turn back. */
  release: Release;
  timer?: HostTimer;
}

export class ConnectionTurns {
  readonly #options: ConnectionTurnsOptions;
  readonly #gate: AdmissionGate;
  readonly #underWay = new Map<string, Connection>();
  readonly #admitted: BatchPerTick<Connection>;
  /** Those whose turns are over. */
  readonly #slow: ReadInTurns;

  constructor(options: ConnectionTurnsOptions) {
    this.#options = options;
    const { clock, inHand } = options;
    // Turns are ended here: a connection that is not counted and still read from is in hand beyond the limit.
    const turns = { ...inHand, msMax: inHand.msMax + options.msMax };
    this.#gate = new AdmissionGate({ clock, perSecond: undefined, waitMsMax: TURN_WAIT_MS_MAX, inHand: turns });
    this.#slow = new ReadInTurns(clock);
    this.#admitted = new BatchPerTick(options.perTick, connection => this.#giveTurn(connection));
  }

  accept(socket: Socket): void {
    // Without a listener, an error before the session is there would end the process.
    socket.on('error', () => socket.destroy());
    if (this.#underWay.size >= this.#options.underWayMax) {
      socket.destroy();
      return;
    }
    const connection: Connection = {
      client: clientOf(socket),
      socket,
      isDone: false,
      isSlow: false,
      release: () => undefined,
    };
    this.#underWay.set(connection.client, connection);
    socket.once('close', () => this.over(connection));
    socket.setTimeout(this.#options.msMax, () => socket.destroy());
    socket.once('data', bytes => {
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(bytes);
      void this.#begin(connection);
    });
  }

  /** Undefined: none of this client is under way. */
  find(client: string): Connection | undefined {
    return this.#underWay.get(client);
  }

  /** What it was let in for is done: others have their turn. It is still under way. */
  done(connection: Connection): void {
    connection.isDone = true;
    this.#endTurn(connection);
  }

  /** It is no longer under way, and read from as it comes. */
  letGo(connection: Connection): void {
    connection.isDone = true;
    this.over(connection);
    // Another one is read from as Node decides: to begin twice is an error, which ends the connection.
    if (connection.isSlow) resumeReading(connection.socket);
  }

  /** It is no longer under way. */
  over(connection: Connection): void {
    this.#endTurn(connection);
    if (this.#underWay.get(connection.client) === connection) this.#underWay.delete(connection.client);
  }

  async #begin(connection: Connection): Promise<void> {
    const { socket } = connection;
    const release = await this.#gate.enter(socket.remoteAddress ?? '', () => socket.destroyed);
    if (release === undefined || socket.destroyed) {
      release?.();
      socket.destroy();
      return;
    }
    connection.release = release;
    this.#admitted.add(connection);
  }

  #giveTurn(connection: Connection): void {
    const { socket } = connection;
    if (socket.destroyed) return;
    const { clock, inHand, msMax, readsSlowOnes = false } = this.#options;
    connection.timer = clock.after(inHand.msMax, () => {
      this.#endTurn(connection);
      connection.isSlow = true;
      if (!readsSlowOnes) this.#slow.add(socket, () => connection.isDone || socket.destroyed);
      connection.timer = clock.after(msMax, () => {
        if (readsSlowOnes) socket.destroy();
        else this.letGo(connection);
      });
    });
    this.#options.begin(connection);
  }

  #endTurn(connection: Connection): void {
    connection.timer?.cancel();
    connection.release();
  }
}

export function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''}:${remotePort ?? ''}`;
}
