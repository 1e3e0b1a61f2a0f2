// A TLS port whose connections grpc-js serves: certificates are exchanged without closing a stream, a client
// certificate may be absent, and a bad one ends the connection. grpc-js itself takes a bad certificate for none and
// has no setting for versions and suites (docs/adr/0017).
//
// Invariant: a socket that is handed on either has no client certificate, or one that verifies and that `admits`
// accepts. Handshakes begin in turns (connection-turns.ts), since both of their flights are computed on the event loop,
// and are read in turns as well (handshake-reader.ts). For that the TLS sockets are made here, as Node's own server
// makes them (lib/_tls_wrap.js, tlsConnectionListener), and not by it.

import { constants } from 'node:crypto';
import { createServer as createListener, type Server as Listener } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { ConnectionInjector } from '@grpc/grpc-js';
import { BatchPerTick } from '../../net/batch-per-tick.ts';
import { listen } from '../../net/listen.ts';
import type { InHand } from '../serve/admission-gate.ts';
import type { HostClock } from '../serve/host.ts';
import { type Connection, ConnectionTurns } from './connection-turns.ts';
import { HANDSHAKE_BYTES_MAX, HandshakeReader } from './handshake-reader.ts';
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

/** What Node's own server uses of a TLSSocket. */
interface Inside {
  readonly _handle: {
    receive(bytes: Uint8Array): void;
    verifyError(): (Error & { readonly code?: string }) | null | undefined;
  } | null;
  secureConnecting: boolean;
  /** False: it was released before. */
  _releaseControl(): boolean;
  once(event: 'secure', listener: () => void): unknown;
  once(event: '_tlsError', listener: (error: Error) => void): unknown;
  off(event: '_tlsError', listener: (error: Error) => void): unknown;
}

interface Done {
  readonly handshake: Connection;
  readonly socket: TLSSocket;
  /** OpenSSL's code; also for a client without a certificate. */
  readonly unverified?: string;
}

export class SecurePort {
  readonly #injector: ConnectionInjector;
  readonly #options: SecurePortOptions;
  readonly #listener: Listener;
  readonly #turns: ConnectionTurns;
  readonly #reader: HandshakeReader;
  readonly #done: BatchPerTick<Done>;
  /** Undefined: there is no certificate yet. */
  #context: SecureContext | undefined;

  constructor(injector: ConnectionInjector, options: SecurePortOptions) {
    this.#injector = injector;
    this.#options = options;
    const { clock, inHand = HANDSHAKES_IN_HAND, handshakesMax = HANDSHAKES_MAX, material } = options;
    this.#context = material && this.#contextOf(material);
    this.#reader = new HandshakeReader();
    this.#turns = new ConnectionTurns({
      ...{ clock, inHand, perTick: HANDSHAKES_PER_TICK, underWayMax: handshakesMax, msMax: HANDSHAKE_MS_MAX },
      ...{ begin: connection => this.#begin(connection), readsSlowOnes: true },
    });
    this.#done = new BatchPerTick(HANDED_ON_PER_TICK, done => this.#handOn(done));
    this.#listener = createListener(socket => this.#turns.accept(socket));
  }

  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    const { log } = this.#options;
    return listen(this.#listener, { host, port }, message => log('warn', `the secure port: ${message}`));
  }

  /** For handshakes from now on; connections stay. Throws if certificate and key do not fit, and the old ones stay. */
  use(material: TlsMaterial): void {
    this.#context = this.#contextOf(material);
  }

  /** No new connections; those that are there are others' business. */
  close(): void {
    this.#listener.close();
  }

  #begin(handshake: Connection): void {
    const { socket: tcp } = handshake;
    const bytesRead = tcp.readableLength;
    if (this.#context === undefined || bytesRead > HANDSHAKE_BYTES_MAX) return void tcp.destroy();
    const socket = new TLSSocket(tcp, {
      ...{ isServer: true, secureContext: this.#context, requestCert: true, rejectUnauthorized: false },
      ...{ ALPNProtocols: ['h2'], handshakeTimeout: HANDSHAKE_MS_MAX },
    });
    const inside = socket as unknown as Inside;
    const failed = (error: Error): void => {
      this.#options.log('debug', `TLS handshake with ${tcp.remoteAddress ?? ''} failed: ${error.message}`);
      socket.destroy();
    };
    inside.once('_tlsError', failed);
    // Without a listener, an error before the session is there would end the process.
    socket.on('error', () => undefined);
    inside.once('secure', () => {
      inside.off('_tlsError', failed);
      if (socket.destroyed || !inside._releaseControl()) return;
      const handle = inside._handle;
      if (handle === null) return;
      const error = handle.verifyError();
      socket.authorized = error === null || error === undefined;
      // Otherwise its HTTP/2 session waits for a handshake.
      inside.secureConnecting = false;
      this.#secured({ handshake, socket, ...(error?.code === undefined ? {} : { unverified: error.code }) });
    });
    // Behind Node's own callback, which hands the bytes on that were read, and begins to read.
    process.nextTick(() => {
      const isOver = (): boolean => handshake.isDone || socket.destroyed;
      if (isOver()) return;
      const receive = (bytes: Buffer): void => inside._handle?.receive(bytes);
      const peer = tcp.remoteAddress ?? '';
      this.#reader.add({ socket: tcp, peer, receive, isOver, isSlow: () => handshake.isSlow }, bytesRead);
    });
  }

  #secured(done: Done): void {
    this.#turns.done(done.handshake);
    // The HTTP/2 session is to read what the client sends now, and whether it hangs up.
    if (holdReading(done.handshake.socket)) this.#done.add(done);
    else this.#handOn(done);
  }

  #handOn({ handshake, socket, unverified }: Done): void {
    this.#turns.over(handshake);
    if (socket.destroyed) return;
    const why = this.#whyRefused(socket, unverified);
    if (why === undefined) {
      this.#injector.injectConnection(socket);
      resumeReading(handshake.socket);
    } else {
      this.#options.log('info', `TLS client ${socket.remoteAddress ?? ''} is refused: ${why}`);
      socket.destroy();
    }
  }

  #contextOf({ certificate, key, clientRoots }: TlsMaterial): SecureContext {
    const { settings } = this.#options;
    return createSecureContext({
      ...(certificate === '' ? {} : { cert: certificate, key }),
      // Never the system's roots: a certificate outside ours proves nothing.
      ca: clientRoots === '' ? [] : [clientRoots],
      minVersion: settings.minVersion,
      ...(settings.maxVersion === undefined ? {} : { maxVersion: settings.maxVersion }),
      ...(settings.ciphers === undefined ? {} : { ciphers: settings.ciphers }),
      ...(settings.curves === undefined ? {} : { ecdhCurve: settings.curves }),
      honorCipherOrder: true,
      // A resumed session would skip the checks of the certificate, and its ticket key would be one more secret.
      secureOptions: constants.SSL_OP_NO_TICKET,
      sessionTimeout: 1,
      sessionIdContext: 'secure port',
    });
  }

  #whyRefused(socket: TLSSocket, unverified: string | undefined): string | undefined {
    if (socket.alpnProtocol !== 'h2') return 'it does not speak h2';
    try {
      const certificate = certificateOf(socket);
      if (certificate === undefined) return undefined;
      if (!socket.authorized) return `its certificate does not verify (${unverified ?? ''})`;
      return this.#options.admits(certificate);
    } catch (error) {
      return `its certificate cannot be read (${String(error)})`;
    }
  }
}
