// The registration authority: requests of proven callers are handed on to a signer of the Kubernetes API, and the keys
// that sign are elsewhere.
//
// Invariants: a request names the caller's own identities alone, since the signer signs what it says; an answer
// certifies the request's key for them, or it is none. The last element of an answer is what workloads verify each
// other with.
// Source: Istio security/pkg/pki/ra/k8s_ra.go, security/pkg/pki/ra/common.go (ValidateCSR, preSign).

import { X509Certificate } from 'node:crypto';
import { type Issued, SigningError } from './authority.ts';
import type { ClusterCall } from './cluster-call.ts';
import type { CertificateRequest } from './csr-service.ts';
import { type CsrTime, signedByKubernetes } from './kubernetes-csr.ts';
import { lifetimeOf } from './lifetime.ts';
import { keyDigest, publicKeyDer } from './x509/keys.ts';
import { alternativeNamesOf, OID_ALTERNATIVE_NAMES } from './x509/names.ts';
import { whyUnverified } from './x509/path.ts';
import { certificateBlocks } from './x509/pem.ts';
import { OID_SERVER_AUTH } from './x509/profile.ts';
import { readRequest, type SigningRequest } from './x509/request.ts';

/** A row of MeshConfig.caCertificates. */
export interface SignerRoots {
  readonly pem: string;
  readonly certSigners: readonly string[];
}

export interface RegistrationOptions {
  readonly call: ClusterCall;
  /** K8S_SIGNER: of requests that name none. */
  readonly signer: string;
  /** CERT_SIGNER_DOMAIN: stands before the signer that a request names. */
  readonly signerDomain: string;
  readonly maxTtlMs: number;
  /** What the default signer's certificates verify with; '': not known. */
  readonly roots: string;
  readonly signerRoots: () => readonly SignerRoots[];
  readonly time: CsrTime;
}

const USAGES = ['digital signature', 'key encipherment', 'server auth', 'client auth'];
const ORGANIZATION = '2.5.4.10=';

export class Registration {
  readonly #options: RegistrationOptions;

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /** Rejects with a SigningError. */
  async sign({ csr, validitySeconds, signer }: CertificateRequest, identities: readonly string[]): Promise<Issued> {
    const request = await readRequest(csr).catch(failing('CSR_ERROR'));
    const why = whyNotHandedOn(request, identities);
    if (why !== undefined) {
      throw new SigningError('CSR_ERROR', `unable to validate SAN Identities in CSR: ${why}`);
    }
    const seconds = this.#seconds(validitySeconds);
    const name = this.#signerOf(signer);
    const order = { csr, signer: name, prefix: 'csr-workload-', usages: USAGES, seconds, names: [] };
    const { call, time } = this.#options;
    const pem = await signedByKubernetes(call, order, time).catch(failing('CERT_GEN_ERROR'));
    return this.#issued(request, identities, pem, signer === '' ? undefined : name);
  }

  #seconds(wanted: number): number {
    try {
      // The signer has a default of its own.
      return wanted <= 0 ? 0 : lifetimeOf({ defaultTtlMs: 0, maxTtlMs: this.#options.maxTtlMs }, wanted) / 1_000;
    } catch (error) {
      throw new SigningError('TTL_ERROR', error instanceof Error ? error.message : String(error));
    }
  }

  #signerOf(wanted: string): string {
    const { signer, signerDomain } = this.#options;
    if (wanted === '') return signer;
    if (signerDomain !== '') return `${signerDomain}/${wanted}`;
    throw new SigningError('CERT_GEN_ERROR', `certSignerDomain is required for signer ${wanted}`);
  }

  /** `named`: the signer that the request names. */
  #issued(request: SigningRequest, identities: readonly string[], pem: string, named: string | undefined): Issued {
    const chain = certificateBlocks(pem).map(({ der }) => new X509Certificate(der));
    const [leaf] = chain;
    if (leaf === undefined) throw new SigningError('CERT_GEN_ERROR', 'the signer has answered with no certificate');
    const names = (alternativeNamesOf(leaf.raw) ?? []).map(({ text }) => text);
    const isOurs = publicKeyDer(leaf.publicKey).equals(request.spki) && identities.every(one => names.includes(one));
    if (!isOurs) throw new SigningError('CERT_GEN_ERROR', 'the signer has certified another key or other identities');
    const roots = this.#rootsOf(chain, named);
    const texts = chain.map(certificate => `${certificate.toString().trim()}\n`);
    const isThere = texts.at(-1)?.trim() === roots.trim() && texts.length > 1;
    return {
      certChain: [...(isThere ? texts.slice(0, -1) : texts), roots],
      serial: leaf.serialNumber.toLowerCase(),
      notBefore: Date.parse(leaf.validFrom),
      notAfter: Date.parse(leaf.validTo),
      keyDigest: keyDigest(request.spki),
      leaf: leaf.raw,
    };
  }

  /**
   * Those that are configured for the signer, or, of a signer that a request names, the authority at the end of its
   * answer.
   */
  #rootsOf(chain: readonly X509Certificate[], named: string | undefined): string {
    const { roots, signerRoots, signer, time } = this.#options;
    const configured = signerRoots().find(({ certSigners }) => certSigners.includes(named ?? signer))?.pem ?? '';
    const last = chain.at(-1);
    const own = last?.ca === true && chain.length > 1 ? last.toString() : '';
    const found = roots !== '' ? roots : configured !== '' ? configured : named === undefined ? '' : own;
    if (found === '') throw new SigningError('CSR_ERROR', `no root is known of the signer ${named ?? signer}`);
    const [leaf, ...intermediates] = chain;
    const anchors = certificateBlocks(found).map(({ der }) => new X509Certificate(der));
    const options = { intermediates, roots: anchors, now: time.now(), usage: OID_SERVER_AUTH };
    const why = leaf === undefined ? undefined : whyUnverified(leaf, options);
    if (why !== undefined) {
      throw new SigningError('CERT_GEN_ERROR', `the certificate of the signer does not verify with its root: ${why}`);
    }
    return found.endsWith('\n') ? found : `${found}\n`;
  }
}

function failing(kind: 'CSR_ERROR' | 'CERT_GEN_ERROR'): (error: unknown) => never {
  return error => {
    throw new SigningError(kind, error instanceof Error ? error.message : String(error));
  };
}

/** Undefined: the signer may see it. */
function whyNotHandedOn(request: SigningRequest, identities: readonly string[]): string | undefined {
  const { names = [], subject, extensions } = request;
  if (names.length === 0) return 'it names no identity';
  const foreign = names.find(({ kind, text }) => kind !== 'uri' || !identities.includes(text));
  if (foreign !== undefined) return `${foreign.text} is not the caller's`;
  if (names.length > 1) return 'it names more than one identity';
  if (subject.some(part => part !== ORGANIZATION)) return 'its subject is not empty';
  const other = extensions.find(oid => oid !== OID_ALTERNATIVE_NAMES);
  return other === undefined ? undefined : `it asks for the extension ${other}`;
}
