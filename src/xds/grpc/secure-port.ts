// A TLS port whose connections grpc-js serves: certificates are exchanged without closing a stream, a client
// certificate may be absent, and a bad one ends the connection. grpc-js itself takes a bad certificate for none and
// has no setting for versions and suites (docs/adr/0017).
//
// Invariant: a socket that is handed on either has no client certificate, or one that verifies and that `admits`
// accepts. Handshakes begin in turns (connection-turns.ts), since both of their flights are computed on the event loop.

import { constants } from 'node:crypto';
import { createServer as createListener, type Server as Listener, type Socket } from 'node:net';
import { createServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { ConnectionInjector } from '@grpc/grpc-js';
import { BatchPerTick } from '../../net/batch-per-tick.ts';
import { listen } from '../../net/listen.ts';
import type { InHand } from '../serve/admission-gate.ts';
import type { HostClock } from '../serve/host.ts';
import { type Connection, ConnectionTurns, clientOf } from './connection-turns.ts';
import { holdReading, resumeReading } from './held-reading.ts';
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

interface Done {
  readonly handshake: Connection;
  readonly socket: TLSSocket;
}

export class SecurePort {
  readonly #options: SecurePortOptions;
  readonly #listener: Listener;
  /** Listens to no address: it gets the connections of `#listener`. */
  readonly #server: TlsServer;
  readonly #turns: ConnectionTurns;
  readonly #done: BatchPerTick<Done>;
  #material: TlsMaterial | undefined;

  constructor(injector: ConnectionInjector, options: SecurePortOptions) {
    this.#options = options;
    this.#material = options.material;
    const { clock, inHand = HANDSHAKES_IN_HAND, handshakesMax = HANDSHAKES_MAX } = options;
    this.#turns = new ConnectionTurns({
      ...{ clock, inHand, perTick: HANDSHAKES_PER_TICK, underWayMax: handshakesMax, msMax: HANDSHAKE_MS_MAX },
      begin: socket => this.#begin(socket),
    });
    this.#done = new BatchPerTick(HANDED_ON_PER_TICK, done => this.#handOn(injector, done));
    this.#listener = createListener(socket => this.#turns.accept(socket));
    this.#server = createServer(this.#tlsOptions());
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      const handshake = this.#turns.find(clientOf(socket));
      if (handshake === undefined) return void socket.destroy();
      this.#turns.done(handshake);
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
    const { log } = this.#options;
    return listen(this.#listener, { host, port }, message => log('warn', `the secure port: ${message}`));
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

  #begin(socket: Socket): void {
    if (this.#material === undefined) socket.destroy();
    else this.#server.emit('connection', socket);
  }

  #handOn(injector: ConnectionInjector, { handshake, socket }: Done): void {
    this.#turns.over(handshake);
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
