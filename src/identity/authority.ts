// The certificate authority at work: one bundle at a time, leaves signed with it, and those told who care when it is
// exchanged.
//
// Invariant: chain and roots of an answer belong to the certificate that signed it: the bundle is taken once, before
// anything is awaited.
// Source: Istio security/pkg/pki/ca/ca.go, security/pkg/server/ca/server.go (CreateCertificate).

import type { SigningBundle } from './bundle.ts';
import { defaultLifetime, type LifetimeSettings, lifetimeOf } from './lifetime.ts';
import { keyDigest } from './x509/keys.ts';
import { pemOf } from './x509/pem.ts';
import { type Made, makeLeaf } from './x509/profile.ts';
import { readRequest } from './x509/request.ts';

export type SigningErrorKind = 'CSR_ERROR' | 'TTL_ERROR' | 'CERT_GEN_ERROR' | 'CA_NOT_READY';

export class SigningError extends Error {
  readonly kind: SigningErrorKind;

  constructor(kind: SigningErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export interface Issued {
  /** One certificate each: leaf, chain; then the roots as one text. */
  readonly certChain: readonly string[];
  readonly serial: string;
  readonly notBefore: number;
  readonly notAfter: number;
  /** sha256 of the certified public key. */
  readonly keyDigest: string;
  readonly leaf: Buffer;
}

export interface AuthorityOptions extends LifetimeSettings {
  readonly now: () => number;
}

export class Authority {
  readonly #options: AuthorityOptions;
  readonly #listeners: ((bundle: SigningBundle) => void)[] = [];
  #bundle: SigningBundle;

  constructor(bundle: SigningBundle, options: AuthorityOptions) {
    this.#bundle = bundle;
    this.#options = options;
  }

  get bundle(): SigningBundle {
    return this.#bundle;
  }

  /** From now on this one signs. */
  replace(bundle: SigningBundle): void {
    this.#bundle = bundle;
    for (const listener of this.#listeners) listener(bundle);
  }

  onReplaced(listener: (bundle: SigningBundle) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Signs the request of a caller with the proven `identities`. Rejects with a SigningError. `ttlSeconds` 0: the
   * default.
   */
  async sign(csr: string, identities: readonly string[], ttlSeconds: number): Promise<Issued> {
    const bundle = this.#bundle;
    const ttlMs = this.#lifetime(bundle, ttlSeconds);
    const { spki, hasCommonName } = await readRequest(csr).catch((error: unknown) => {
      throw new SigningError('CSR_ERROR', messageOf(error));
    });
    return this.#issue(bundle, { spki, hasCommonName, identities, ttlMs });
  }

  /** For keys of our own. */
  async certify(spki: Buffer, identities: readonly string[], ttlMs?: number): Promise<Issued> {
    const bundle = this.#bundle;
    return this.#issue(bundle, { spki, identities, hasCommonName: false, ttlMs: ttlMs ?? this.#lifetime(bundle, 0) });
  }

  #lifetime(bundle: SigningBundle, seconds: number): number {
    const { now, defaultTtlMs, maxTtlMs } = this.#options;
    const fallback = defaultLifetime(defaultTtlMs, bundle.chainNotAfter, now());
    try {
      // The verifier of a leaf detects an expired chain; the lifetime of the leaf does not depend on it.
      return lifetimeOf({ defaultTtlMs: fallback ?? defaultTtlMs, maxTtlMs }, seconds);
    } catch (error) {
      throw new SigningError('TTL_ERROR', messageOf(error));
    }
  }

  async #issue(bundle: SigningBundle, request: Omit<Parameters<typeof makeLeaf>[1], 'now'>): Promise<Issued> {
    const made = await makeLeaf(bundle.signer, { ...request, now: this.#options.now() }).catch((error: unknown) => {
      throw new SigningError('CERT_GEN_ERROR', messageOf(error));
    });
    return issued(bundle, made, request.spki);
  }
}

function issued({ chain, roots }: SigningBundle, { der, ...made }: Made, spki: Uint8Array): Issued {
  const certChain = [pemOf('CERTIFICATE', der), ...chain, ...(roots === '' ? [] : [roots])];
  return { certChain, leaf: der, keyDigest: keyDigest(spki), ...made };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
