// A TLS port whose connections grpc-js serves: certificates are exchanged without closing a stream, a client
// certificate may be absent, and a bad one ends the connection. grpc-js itself takes a bad certificate for none and
// has no setting for versions and suites (docs/adr/0017).
//
// Invariant: a socket that is handed on either has no client certificate, or one that verifies and that `admits`
// accepts. Connections are accepted unread, and a few handshakes begin in each tick of the event loop: a thousand
// clients that come at once delay nothing else for long.

import { constants, type X509Certificate } from 'node:crypto';
import { createServer as createListener, type Server as Listener, type Socket } from 'node:net';
import { createServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { ConnectionInjector } from '@grpc/grpc-js';
import { BatchPerTick } from '../serve/batch-per-tick.ts';

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
  /** Undefined: this client certificate, which verifies, may come in. */
  readonly admits: (certificate: X509Certificate) => string | undefined;
  readonly log: (level: 'debug' | 'info' | 'warn', message: string) => void;
  /** Default: HANDSHAKES_MAX. */
  readonly handshakesMax?: number;
}

/** A handshake that takes longer is given up. */
export const HANDSHAKE_MS_MAX = 10_000;
/** Connections accepted and not yet verified; further ones are closed. */
export const HANDSHAKES_MAX = 4_096;
/** Handshakes that begin in one tick of the event loop: each takes about half a millisecond in one turn. */
export const HANDSHAKES_PER_TICK = 16;

export class SecurePort {
  readonly #options: SecurePortOptions;
  readonly #listener: Listener;
  /** Listens to no address: it gets the connections of `#listener`. */
  readonly #server: TlsServer;
  readonly #accepted = new BatchPerTick<Socket>(HANDSHAKES_PER_TICK, socket => this.#begin(socket));
  /** Connections that are not verified yet, by the client's address and port. */
  readonly #underWay = new Set<string>();
  #material: TlsMaterial | undefined;

  constructor(injector: ConnectionInjector, options: SecurePortOptions) {
    this.#options = options;
    this.#material = options.material;
    this.#listener = createListener({ pauseOnConnect: true }, socket => this.#accept(socket));
    this.#server = createServer(this.#tlsOptions());
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      this.#underWay.delete(clientOf(socket));
      const why = this.#whyRefused(socket);
      if (why === undefined) injector.injectConnection(socket);
      else {
        options.log('info', `TLS client ${socket.remoteAddress ?? ''} is refused: ${why}`);
        socket.destroy();
      }
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
    const client = clientOf(socket);
    this.#underWay.add(client);
    socket.once('close', () => this.#underWay.delete(client));
    this.#accepted.add(socket);
  }

  #begin(socket: Socket): void {
    if (this.#material === undefined) socket.destroy();
    else if (!socket.destroyed) this.#server.emit('connection', socket);
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
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) return undefined;
    if (!socket.authorized) return `its certificate does not verify (${String(socket.authorizationError)})`;
    return this.#options.admits(certificate);
  }
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`;
}
