// A TLS port whose connections grpc-js serves: certificates are exchanged without closing a stream, a client
// certificate may be absent, and a bad one ends the connection. grpc-js itself takes a bad certificate for none and
// has no setting for versions and suites (docs/adr/0017).
//
// Invariant: a socket that is handed on either has no client certificate, or one that verifies and that `admits`
// accepts. A connection stands in a queue from its first bytes on, and few handshakes are in hand at once, since both
// of their flights are computed on the event loop: a thousand clients that come at once delay nothing else for long.
// Only those in hand are read from; libuv reads every connection that has bytes in one turn of the loop, so the second
// flights of all that have begun could otherwise come in one.

import { constants } from 'node:crypto';
import { createServer as createListener, type Server as Listener, type Socket } from 'node:net';
import { createServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { ConnectionInjector } from '@grpc/grpc-js';
import { AdmissionGate, type InHand, type Release } from '../serve/admission-gate.ts';
import { BatchPerTick } from '../serve/batch-per-tick.ts';
import type { HostClock, HostTimer } from '../serve/host.ts';
import { holdReading, ReadInTurns, resumeReading } from './held-reading.ts';
import { certificateOf } from './peer.ts';

export interface TlsMaterial {
  /** PEM: leaf first. */
  readonly certificate: string;
  readonly key: string;
  /** PEM of the roots that client certificates are verified with. */
  readonly clientRoots: string;
}

export interface TlsSettings {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** OpenSSL's names, colon-separated; undefined: Node's own. */
  readonly ciphers?: string;
  readonly curves?: string;
}

export interface SecurePortOptions {
  readonly settings: TlsSettings;
  /** Undefined: there is none yet, and handshakes fail. */
  readonly material: TlsMaterial | undefined;
  /** Undefined: this client certificate (DER), which verifies, may come in. */
  readonly admits: (certificate: Uint8Array) => string | undefined;
  readonly log: (level: 'debug' | 'info' | 'warn', message: string) => void;
  readonly clock: HostClock;
  /** Default: HANDSHAKES_MAX. */
  readonly handshakesMax?: number;
  /** Default: HANDSHAKES_IN_HAND. */
  readonly inHand?: InHand;
}

/** A handshake that takes longer is given up, and so is a client that is silent for this time. */
export const HANDSHAKE_MS_MAX = 10_000;
/** How long a client waits for its turn: as long as clients of gRPC wait for a connection (MIN_CONNECT_TIMEOUT). */
export const TURN_WAIT_MS_MAX = 20_000;
/** Connections accepted and not yet verified; further ones are closed. */
export const HANDSHAKES_MAX = 4_096;
/**
 * Handshakes in hand at once, and for how long each: then its client is far away, others have their turns, and it is
 * read from now and then (`ReadInTurns`).
 */
export const HANDSHAKES_IN_HAND: InHand = { max: 16, ofPeer: 12, msMax: 100 };
/** First flights computed in one tick of the event loop, about half a millisecond each. */
export const HANDSHAKES_PER_TICK = 8;
/** Connections that are verified and handed on in one tick: certificate and HTTP/2 session, as much again. */
export const HANDED_ON_PER_TICK = 8;

/** A connection that is not verified yet. */
interface Handshake {
  readonly client: string;
  readonly socket: Socket;
  isDone: boolean;
  /** Gives its turn back. */
  release: Release;
  timer?: HostTimer;
}

interface Done {
  readonly handshake: Handshake;
  readonly socket: TLSSocket;
}

export class SecurePort {
  readonly #options: SecurePortOptions;
  readonly #listener: Listener;
  /** Listens to no address: it gets the connections of `#listener`. */
  readonly #server: TlsServer;
  readonly #gate: AdmissionGate;
  /** Connections that are not verified yet, by the client's address and port. */
  readonly #underWay = new Map<string, Handshake>();
  readonly #admitted = new BatchPerTick<Handshake>(HANDSHAKES_PER_TICK, handshake => this.#giveTurn(handshake));
  /** Those whose turns are over. */
  readonly #slow: ReadInTurns;
  readonly #done: BatchPerTick<Done>;
  #material: TlsMaterial | undefined;

  constructor(injector: ConnectionInjector, options: SecurePortOptions) {
    this.#options = options;
    this.#material = options.material;
    const { clock, inHand = HANDSHAKES_IN_HAND } = options;
    // Turns are ended here: a handshake that is not counted and still read from is in hand beyond the limit.
    const turns = { ...inHand, msMax: inHand.msMax + HANDSHAKE_MS_MAX };
    this.#gate = new AdmissionGate({ clock, perSecond: undefined, waitMsMax: TURN_WAIT_MS_MAX, inHand: turns });
    this.#slow = new ReadInTurns(clock);
    this.#done = new BatchPerTick(HANDED_ON_PER_TICK, done => this.#handOn(injector, done));
    this.#listener = createListener(socket => this.#accept(socket));
    this.#server = createServer(this.#tlsOptions());
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      const handshake = this.#underWay.get(clientOf(socket));
      if (handshake === undefined) return void socket.destroy();
      handshake.isDone = true;
      this.#endTurn(handshake);
      // The HTTP/2 session is to read what the client sends now, and whether it hangs up.
      if (holdReading(handshake.socket)) this.#done.add({ handshake, socket });
      else this.#handOn(injector, { handshake, socket });
      return undefined;
    });
    this.#server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
      options.log('debug', `TLS handshake with ${socket.remoteAddress ?? ''} failed: ${error.message}`);
      socket.destroy();
    });
  }

  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#listener.once('error', reject);
      this.#listener.listen({ port, ...(host === '' ? {} : { host }) }, () => {
        this.#listener.removeListener('error', reject);
        this.#listener.on('error', error => this.#options.log('warn', `the secure port: ${error.message}`));
        const address = this.#listener.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** For handshakes from now on; connections stay. Throws if certificate and key do not fit, and the old ones stay. */
  use(material: TlsMaterial): void {
    const before = this.#material;
    this.#material = material;
    try {
      this.#server.setSecureContext(this.#tlsOptions());
    } catch (error) {
      this.#material = before;
      throw error;
    }
  }

  /** No new connections; those that are there are others' business. */
  close(): void {
    this.#listener.close();
  }

  #accept(socket: Socket): void {
    const { handshakesMax = HANDSHAKES_MAX } = this.#options;
    // Without a listener, an error before the handshake would end the process.
    socket.on('error', () => socket.destroy());
    if (this.#underWay.size >= handshakesMax) {
      socket.destroy();
      return;
    }
    const handshake: Handshake = { client: clientOf(socket), socket, isDone: false, release: () => undefined };
    this.#underWay.set(handshake.client, handshake);
    socket.once('close', () => this.#over(handshake));
    socket.setTimeout(HANDSHAKE_MS_MAX, () => socket.destroy());
    // A silent client takes no turn from others.
    socket.once('data', bytes => {
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(bytes);
      void this.#begin(handshake);
    });
  }

  async #begin(handshake: Handshake): Promise<void> {
    const { socket } = handshake;
    const release = await this.#gate.enter(socket.remoteAddress ?? '', () => socket.destroyed);
    if (release === undefined || socket.destroyed || this.#material === undefined) {
      release?.();
      socket.destroy();
      return;
    }
    handshake.release = release;
    this.#admitted.add(handshake);
  }

  #giveTurn(handshake: Handshake): void {
    if (handshake.socket.destroyed) return;
    const { clock, inHand = HANDSHAKES_IN_HAND } = this.#options;
    handshake.timer = clock.after(inHand.msMax, () => {
      this.#endTurn(handshake);
      this.#slow.add(handshake.socket, () => handshake.isDone || handshake.socket.destroyed);
    });
    this.#server.emit('connection', handshake.socket);
  }

  #endTurn(handshake: Handshake): void {
    handshake.timer?.cancel();
    handshake.release();
  }

  #over(handshake: Handshake): void {
    this.#endTurn(handshake);
    if (this.#underWay.get(handshake.client) === handshake) this.#underWay.delete(handshake.client);
  }

  #handOn(injector: ConnectionInjector, { handshake, socket }: Done): void {
    this.#over(handshake);
    if (socket.destroyed) return;
    const why = this.#whyRefused(socket);
    if (why === undefined) {
      injector.injectConnection(socket);
      resumeReading(handshake.socket);
    } else {
      this.#options.log('info', `TLS client ${socket.remoteAddress ?? ''} is refused: ${why}`);
      socket.destroy();
    }
  }

  #tlsOptions() {
    const { settings } = this.#options;
    const { certificate, key, clientRoots } = this.#material ?? { certificate: '', key: '', clientRoots: '' };
    return {
      ...(certificate === '' ? {} : { cert: certificate, key }),
      // Never the system's roots: a certificate outside ours proves nothing.
      ca: clientRoots === '' ? [] : [clientRoots],
      minVersion: settings.minVersion,
      ...(settings.maxVersion === undefined ? {} : { maxVersion: settings.maxVersion }),
      ...(settings.ciphers === undefined ? {} : { ciphers: settings.ciphers, honorCipherOrder: true }),
      ...(settings.curves === undefined ? {} : { ecdhCurve: settings.curves }),
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
      handshakeTimeout: HANDSHAKE_MS_MAX,
      // A resumed session would skip the checks of the certificate, and its ticket key would be one more secret.
      secureOptions: constants.SSL_OP_NO_TICKET,
      sessionTimeout: 1,
    };
  }

  #whyRefused(socket: TLSSocket): string | undefined {
    if (socket.alpnProtocol !== 'h2') return 'it does not speak h2';
    try {
      const certificate = certificateOf(socket);
      if (certificate === undefined) return undefined;
      if (!socket.authorized) return `its certificate does not verify (${String(socket.authorizationError)})`;
      return this.#options.admits(certificate);
    } catch (error) {
      return `its certificate cannot be read (${String(error)})`;
    }
  }
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`;
}
