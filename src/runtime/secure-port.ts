// The secure port: opened when the process starts, given a certificate as soon as there is one, and a new one whenever
// files or authority change.

import { isIP } from 'node:net';
import type { Authority } from '../identity/authority.ts';
import { signedByKubernetes } from '../identity/kubernetes-csr.ts';
import { servingSigner, signerRootsOf } from '../identity/registration-source.ts';
import {
  readServingFiles,
  type ServingCertificate,
  servingCertificateOf,
  servingFiles,
  servingNames,
  signedServingCertificate,
  watchServingFiles,
} from '../identity/serving.ts';
import { SecurePort } from '../xds/grpc/secure-port.ts';
import type { XdsServer } from '../xds/grpc/server.ts';
import type { Identity, IdentityParts, OpenedRegistration } from './identity.ts';
import type { Address } from './serve-options.ts';

export interface OpenedPort {
  readonly port: number;
  /** Calls back with the serving certificate, at once if there is one, and with each that takes its place. */
  onCertificate(listener: (serving: ServingCertificate) => void): void;
  close(): void;
}

/** MeshConfig, which has the signer's root, may come after the start. */
const SIGNER_LOOK_MS = 5_000;
const SERVING_USAGES = ['digital signature', 'key encipherment', 'server auth'];
/** Half of the life of a certificate of ten years is never reached; that of an authority with a short one is. */
const LOOK_MS = 60_000;

/** Resolves when the port is bound. */
export async function openSecurePort(
  address: Address,
  xds: XdsServer,
  identity: Identity,
  parts: IdentityParts,
): Promise<OpenedPort> {
  const { options, clock, log } = parts;
  const port = new SecurePort(xds.injector(), {
    settings: options.tls,
    material: undefined,
    admits: certificate => identity.admits(certificate),
    log,
    clock,
  });
  const serving = new Serving(port, parts);
  await serving.begin(identity);
  const bound = await port.listen(address.host, address.port);
  return {
    port: bound,
    onCertificate: listener => serving.onCertificate(listener),
    close: () => {
      serving.stop();
      port.close();
    },
  };
}

class Serving {
  readonly #port: SecurePort;
  readonly #parts: IdentityParts;
  readonly #closers: (() => void)[] = [];
  #clientRoots = '';
  #current: ServingCertificate | undefined;
  readonly #listeners: ((serving: ServingCertificate) => void)[] = [];
  #making: Promise<void> = Promise.resolve();

  constructor(port: SecurePort, parts: IdentityParts) {
    this.#port = port;
    this.#parts = parts;
  }

  async begin(identity: Identity): Promise<void> {
    const { options, log } = this.#parts;
    const files = await servingFiles(options.servingFiles);
    if (files !== undefined) {
      const read = async (): Promise<void> => this.#use(await readServingFiles(files));
      const failed = (error: unknown): void => log('error', `the serving certificate stays as it is: ${textOf(error)}`);
      await read().catch(failed);
      this.#closers.push(watchServingFiles(files, () => void read().catch(failed), failed));
      identity.onAuthority(authority => this.#trust(authority.bundle.roots));
      return;
    }
    if (!options.settings.caServer) {
      log('warn', 'ENABLE_CA_SERVER=false and no certificate files: the secure port refuses every handshake');
      return;
    }
    const { registration } = identity;
    if (registration !== undefined) this.#trust(registration.roots);
    const signer = servingSigner(options.settings);
    if (signer !== undefined && registration !== undefined) return this.#beginElsewhere(signer, registration);
    if (options.settings.certProvider !== 'istiod') {
      log(
        'warn',
        `PILOT_CERT_PROVIDER ${options.settings.certProvider}: the secure port has no certificate without files`,
      );
      return;
    }
    const first = new Promise<void>(resolve => {
      identity.onAuthority(authority => {
        const renew = (): Promise<void> => {
          this.#trust(authority.bundle.roots);
          this.#making = this.#making.then(() => this.#sign(authority));
          return this.#making;
        };
        authority.onReplaced(() => void renew());
        void renew().then(resolve);
        const timer = setInterval(() => this.#considerAge(renew), LOOK_MS);
        timer.unref();
        this.#closers.push(() => clearInterval(timer));
      });
    });
    if (identity.authority !== undefined) await first;
  }

  stop(): void {
    for (const close of this.#closers) close();
  }

  onCertificate(listener: (serving: ServingCertificate) => void): void {
    this.#listeners.push(listener);
    if (this.#current !== undefined) listener(this.#current);
  }

  #trust(roots: string): void {
    // Certificates of a root that was replaced are good as long as its workloads may hold them.
    if (!this.#clientRoots.includes(roots)) this.#clientRoots += roots.endsWith('\n') ? roots : `${roots}\n`;
    if (this.#current !== undefined) this.#use(this.#current);
  }

  async #sign(authority: Authority): Promise<void> {
    const { log, options } = this.#parts;
    const names = this.#names();
    try {
      this.#use(await signedServingCertificate(authority, names, options.tls.ciphers));
      log('info', `the secure port is ${names.join(', ')}`);
    } catch (error) {
      log('error', `the serving certificate stays as it is: ${textOf(error)}`);
    }
  }

  /**
   * A signer of the Kubernetes API makes the certificate: at the start, at half of its life, and when its root changes.
   */
  async #beginElsewhere(signer: string, { call, time }: OpenedRegistration): Promise<void> {
    const { log, state } = this.#parts;
    const rootsNow = (): string =>
      signerRootsOf(state()).find(({ certSigners }) => certSigners.includes(signer))?.pem ?? '';
    const renew = async (): Promise<void> => {
      const [roots, names] = [rootsNow(), this.#names()];
      if (roots === '') throw new Error(`MeshConfig.caCertificates has no root of the signer ${signer}`);
      const serving = await servingCertificateOf(names, roots, (csr, seconds) =>
        signedByKubernetes(call, { csr, signer, prefix: 'csr-istiod-', usages: SERVING_USAGES, seconds, names }, time),
      );
      this.#trust(roots);
      this.#use(serving);
      log('info', `the secure port is ${names.join(', ')}, by ${signer}`);
    };
    let isRenewing = false;
    const look = async (): Promise<void> => {
      const { renewAt = 0, roots } = this.#current ?? {};
      if (isRenewing || (renewAt > time.now() && roots === rootsNow())) return;
      isRenewing = true;
      await renew().catch(error => log('error', `the serving certificate stays as it is: ${textOf(error)}`));
      isRenewing = false;
    };
    await look();
    const timer = setInterval(() => void look(), SIGNER_LOOK_MS);
    timer.unref();
    this.#closers.push(() => clearInterval(timer));
  }

  #names(): readonly string[] {
    const { state, options } = this.#parts;
    const { settings, mesh } = state();
    const proxyConfig = mesh.effective.defaultConfig as { readonly discoveryAddress?: string } | undefined;
    const names = servingNames({
      namespace: settings.systemNamespace,
      revision: settings.revision,
      customHosts: options.settings.customHosts,
      discoveryAddress: proxyConfig?.discoveryAddress ?? '',
    });
    return names.filter(name => isIP(name) === 0);
  }

  #considerAge(renew: () => Promise<void>): void {
    const due = this.#current?.renewAt;
    if (due !== undefined && this.#parts.clock.now() >= due) void renew();
  }

  #use(serving: ServingCertificate): void {
    const { certificate, key, roots } = serving;
    this.#port.use({ certificate, key, clientRoots: this.#clientRoots === '' ? roots : this.#clientRoots });
    if (this.#current === serving) return;
    this.#current = serving;
    for (const listener of this.#listeners) listener(serving);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
