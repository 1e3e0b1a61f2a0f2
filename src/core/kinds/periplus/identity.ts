// What the outside and our own certificate authority have said about identity, as objects (docs/adr/0009, 0016).
// Everything in them is public; a replay reads here what was known, and sends no request.
//
//     TrustAnchors         the authority's roots and chain                       name: who says it, e.g. `istio-ca`
//     WorkloadCertificate  the certificate that proxies of an account are given   namespace and name: those of the
// account
//     TokenIssuer          keys that tokens of a cluster or provider verify with  name: as its source calls it
//     SpiffeBundle         roots behind a SPIFFE bundle URL                        name: digest of the URL
//     SecretAccess         may an account list the Secrets of its namespace?      namespace and name: those of the
// account

import type { Json } from '../../base/json.ts';
import { kubernetesKind } from '../kubernetes/kubernetes-kind.ts';

export const IDENTITY_API = 'periplus.internal/v1';

export interface TrustAnchorsData {
  /** PEM, one or more certificates. */
  readonly roots: string;
  /** PEM; '': the root signs by itself. */
  readonly chain: string;
  /** sha256 of the signing key's public half. */
  readonly keyDigest: string;
  readonly mode: string;
  /** PEM; '': none. */
  readonly crl: string;
}
export interface WorkloadCertificateData {
  readonly identity: string;
  /** PEM: leaf first. */
  readonly chain: string;
  /** sha256 of the leaf. */
  readonly fingerprint: string;
}
export interface TokenIssuerData {
  readonly issuer: string;
  /** RFC 7517, as text. */
  readonly jwks: string;
}
export interface SpiffeBundleData {
  readonly url: string;
  /** PEM, one certificate each. */
  readonly certificates: readonly string[];
}
export interface SecretAccessData {
  readonly allowed: boolean;
}

interface Decoded<T> {
  readonly spec?: Partial<T>;
}

const group = 'periplus.internal';
const versions = ['v1'];
const whole = [{ name: 'spec', type: { message: 'Spec' } }] as const;
const texts = (...names: readonly string[]) => names.map(name => ({ name, type: 'string' }) as const);

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly SecretAccess: { readonly spec: SecretAccessData; readonly push: 'own' };
    readonly SpiffeBundle: { readonly spec: SpiffeBundleData; readonly push: 'own' };
    readonly TokenIssuer: { readonly spec: TokenIssuerData; readonly push: 'none' };
    readonly TrustAnchors: { readonly spec: TrustAnchorsData; readonly push: 'own' };
    readonly WorkloadCertificate: { readonly spec: WorkloadCertificateData; readonly push: 'own' };
  }
}

export const trustAnchors = kubernetesKind<'TrustAnchors', Decoded<TrustAnchorsData>>({
  kind: 'TrustAnchors',
  push: 'own',
  group,
  versions,
  clusterScoped: true,
  messages: { Object: whole, Spec: texts('roots', 'chain', 'keyDigest', 'mode', 'crl') },
  flatten: ({ spec }) => ({ roots: '', chain: '', keyDigest: '', mode: '', crl: '', ...spec }),
});

export const workloadCertificate = kubernetesKind<'WorkloadCertificate', Decoded<WorkloadCertificateData>>({
  kind: 'WorkloadCertificate',
  push: 'own',
  group,
  versions,
  messages: { Object: whole, Spec: texts('identity', 'chain', 'fingerprint') },
  flatten: ({ spec }) => ({ identity: '', chain: '', fingerprint: '', ...spec }),
});

export const tokenIssuer = kubernetesKind<'TokenIssuer', Decoded<TokenIssuerData>>({
  kind: 'TokenIssuer',
  push: 'none',
  group,
  versions,
  clusterScoped: true,
  messages: { Object: whole, Spec: texts('issuer', 'jwks') },
  flatten: ({ spec }) => ({ issuer: '', jwks: '', ...spec }),
});

export const spiffeBundle = kubernetesKind<'SpiffeBundle', Decoded<SpiffeBundleData>>({
  kind: 'SpiffeBundle',
  push: 'own',
  group,
  versions,
  clusterScoped: true,
  messages: { Object: whole, Spec: [...texts('url'), { name: 'certificates', type: 'string', repeated: true }] },
  flatten: ({ spec }) => ({ url: '', certificates: [], ...spec }),
});

export const secretAccess = kubernetesKind<'SecretAccess', Decoded<SecretAccessData>>({
  kind: 'SecretAccess',
  push: 'own',
  group,
  versions,
  messages: { Object: whole, Spec: [{ name: 'allowed', type: 'bool' }] },
  flatten: ({ spec }) => ({ allowed: spec?.allowed === true }),
});

export type IdentityKind = 'TrustAnchors' | 'WorkloadCertificate' | 'TokenIssuer' | 'SpiffeBundle' | 'SecretAccess';

/** The object as its source says it. */
export function identityObject(kind: IdentityKind, namespace: string, name: string, spec: Json) {
  const metadata = namespace === '' ? { name } : { name, namespace };
  return { apiVersion: IDENTITY_API, kind, metadata, spec };
}
