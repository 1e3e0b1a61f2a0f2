// A TLS port whose connections grpc-js serves: certificates are exchanged without closing a stream, a client
// certificate may be absent, and a bad one ends the connection. grpc-js itself takes a bad certificate for none and
// has no setting for versions and suites (docs/adr/0017).
//
// Invariant: a socket that is handed on either has no client certificate, or one that verifies and that `admits`
// accepts.

import { constants } from 'node:crypto';
import { createServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { ConnectionInjector } from '@grpc/grpc-js';

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
}

/** A handshake that takes longer is given up. */
export const HANDSHAKE_MS_MAX = 10_000;
/** Connections accepted and not yet verified; further ones are closed. */
export const HANDSHAKES_MAX = 4_096;

export class SecurePort {
  readonly #options: SecurePortOptions;
  readonly #server: TlsServer;
  #material: TlsMaterial | undefined;

  constructor(injector: ConnectionInjector, options: SecurePortOptions) {
    this.#options = options;
    this.#material = options.material;
    this.#server = createServer(this.#tlsOptions());
    let underWay = 0;
    this.#server.on('connection', socket => {
      if (++underWay > HANDSHAKES_MAX || this.#material === undefined) socket.destroy();
      let isCounted = true;
      const done = (): void => {
        if (isCounted) underWay--;
        isCounted = false;
      };
      socket.once('close', done);
      socket.once('data', () => setTimeout(done, HANDSHAKE_MS_MAX).unref());
    });
    this.#server.on('secureConnection', (socket: TLSSocket) => {
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
      this.#server.once('error', reject);
      this.#server.listen({ port, ...(host === '' ? {} : { host }) }, () => {
        this.#server.removeListener('error', reject);
        this.#server.on('error', error => this.#options.log('warn', `the secure port: ${error.message}`));
        const address = this.#server.address();
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
    this.#server.close();
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
    const certificate = socket.getPeerX509Certificate()?.raw;
    if (certificate === undefined) return undefined;
    if (!socket.authorized) return `its certificate does not verify (${String(socket.authorizationError)})`;
    return this.#options.admits(certificate);
  }
}
