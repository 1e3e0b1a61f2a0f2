// A TLS port whose connections grpc-js serves: certificates are exchanged without closing a stream, a client
// certificate may be absent, and a bad one ends the connection. grpc-js itself takes a bad certificate for none and
// has no setting for versions and suites (docs/adr/0017).
//
// Invariant: a socket that is handed on either has no client certificate, or one that verifies and that `admits`
// accepts. A connection stands in a queue from its first bytes on, and few handshakes are in hand at once, since both
// of their flights are computed on the event loop: a thousand clients that come at once delay nothing else for long.

import { constants, type X509Certificate } from 'node:crypto';
import { createServer as createListener, type Server as Listener, type Socket } from 'node:net';
import { createServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { ConnectionInjector } from '@grpc/grpc-js';
import { AdmissionGate, type InHand, type Release } from '../serve/admission-gate.ts';
import type { HostClock } from '../serve/host.ts';

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
 * Handshakes in hand at once. Each takes a millisecond or two of the event loop, in two flights. One whose client is
 * far away is soon no longer counted: a second flight comes about as long after the first as those of its neighbours.
 */
export const HANDSHAKES_IN_HAND: InHand = { max: 16, ofPeer: 12, msMax: 100 };

export class SecurePort {
  readonly #options: SecurePortOptions;
  readonly #listener: Listener;
  /** Listens to no address: it gets the connections of `#listener`. */
  readonly #server: TlsServer;
  readonly #gate: AdmissionGate;
  /** Connections that are not verified yet, by the client's address and port, and how they give their turns back. */
  readonly #underWay = new Map<string, Release>();
  #material: TlsMaterial | undefined;

  constructor(injector: ConnectionInjector, options: SecurePortOptions) {
    this.#options = options;
    this.#material = options.material;
    const { clock, inHand = HANDSHAKES_IN_HAND } = options;
    this.#gate = new AdmissionGate({ clock, perSecond: undefined, waitMsMax: TURN_WAIT_MS_MAX, inHand });
    this.#listener = createListener(socket => this.#accept(socket));
    this.#server = createServer(this.#tlsOptions());
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      this.#over(clientOf(socket));
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
    this.#underWay.set(client, () => undefined);
    socket.once('close', () => this.#over(client));
    socket.setTimeout(HANDSHAKE_MS_MAX, () => socket.destroy());
    // A silent client takes no turn from others.
    socket.once('data', bytes => {
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(bytes);
      void this.#begin(client, socket);
    });
  }

  async #begin(client: string, socket: Socket): Promise<void> {
    const release = await this.#gate.enter(socket.remoteAddress ?? '', () => socket.destroyed);
    if (release === undefined || socket.destroyed || this.#material === undefined) {
      release?.();
      socket.destroy();
      return;
    }
    this.#underWay.set(client, release);
    this.#server.emit('connection', socket);
  }

  #over(client: string): void {
    this.#underWay.get(client)?.();
    this.#underWay.delete(client);
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
