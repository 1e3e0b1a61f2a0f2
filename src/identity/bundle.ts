// The signing bundle: certificate and key that sign, the chain up to the roots, the roots that workloads trust; made of
// PEM texts and checked before it is used. A bundle that does not verify is refused as a whole, and the one before goes
// on signing.
//
// Source: Istio security/pkg/pki/util/keycertbundle.go, security/pkg/pki/ca/ca.go (NewPluggedCertIstioCAOptions,
// NewSelfSignedIstioCAOptions).

import { X509Certificate } from 'node:crypto';
import { keyDigest, privateKeyOf, publicKeyDer } from './x509/keys.ts';
import { whyUnverified } from './x509/path.ts';
import { certificateBlocks } from './x509/pem.ts';
import { fits, OID_SERVER_AUTH, type Signer, signerOf } from './x509/profile.ts';
import { missingRevocationLists } from './x509/revocation-list.ts';

export type AuthorityMode = 'self-signed' | 'plugged-in';

export interface BundleTexts {
  readonly mode: AuthorityMode;
  readonly certificate: string;
  readonly key: string;
  readonly chain: string;
  readonly roots: string;
  readonly crl?: string;
}

export interface SigningBundle {
  readonly mode: AuthorityMode;
  readonly signer: Signer;
  /** One certificate each, with one newline at the end and the text before it. */
  readonly chain: readonly string[];
  /** As given: it may hold several certificates, and need not end with a newline. */
  readonly roots: string;
  /** Milliseconds since the epoch; undefined: there is no chain. */
  readonly chainNotAfter: number | undefined;
  /** Of the first root. */
  readonly rootNotAfter: number;
  /** sha256 of the signing key's public half. */
  readonly keyDigest: string;
  readonly crl: string | undefined;
}

/** Throws with what is wrong; the message holds nothing of a key. */
export function signingBundle(texts: BundleTexts, now: number): SigningBundle {
  const certificate = firstCertificate(texts.certificate, 'the signing certificate');
  const roots = certificatesIn(texts.roots, 'the root certificates');
  const chain = certificatesIn(texts.chain, 'the certificate chain');
  const [root] = roots;
  if (root === undefined) throw new Error('there is no root certificate');
  const why = whyUnverified(certificate, { intermediates: chain, roots, now, usage: OID_SERVER_AUTH });
  if (why !== undefined) throw new Error(`the signing certificate cannot be verified: ${why}`);
  if (!certificate.ca) throw new Error('certificate is not authorized to sign other certificates');
  const key = privateKeyOf(texts.key);
  if (!fits(certificate, key)) throw new Error('the signing key does not belong to the signing certificate');
  const missing = texts.crl === undefined ? undefined : missingRevocationLists(texts.crl, chain);
  if (missing !== undefined) throw new Error(`ca-crl.pem: ${missing}`);
  const [first] = chain;
  return {
    mode: texts.mode,
    signer: signerOf(certificate, key),
    chain: certificateBlocks(texts.chain).map(({ text }) => `${text}\n`),
    roots: texts.roots,
    chainNotAfter: first === undefined ? undefined : Date.parse(first.validTo),
    rootNotAfter: Date.parse(root.validTo),
    keyDigest: keyDigest(publicKeyDer(key)),
    crl: texts.crl,
  };
}

function firstCertificate(text: string, what: string): X509Certificate {
  const [first] = certificatesIn(text, what);
  if (first === undefined) throw new Error(`${what} is missing or not PEM`);
  return first;
}

function certificatesIn(text: string, what: string): readonly X509Certificate[] {
  return certificateBlocks(text).map(({ der }) => {
    try {
      return new X509Certificate(der);
    } catch {
      throw new Error(`${what}: not an X.509 certificate`);
    }
  });
}

/** Names of the files that an operator plugs in, or keys of the Secret `cacerts`. */
export type BundleFiles = ReadonlyMap<string, string>;

export type Plugged = { readonly texts: BundleTexts } | 'none' | 'incomplete' | 'generated';

/** A file of this name beside the others: istiod made them itself. */
const GENERATED = 'istio-generated';

/** Which authority files stand for: in the form of cert-manager (`tls.crt`) or of Istio (`ca-cert.pem`). */
export function pluggedIn(
  files: BundleFiles,
  options: { readonly crl: boolean; readonly generatedCounts: boolean },
): Plugged {
  const text = (name: string): string => files.get(name) ?? '';
  const isTls = files.has('tls.crt');
  const [certificate, key, root] = isTls
    ? ['tls.crt', 'tls.key', 'ca.crt']
    : ['ca-cert.pem', 'ca-key.pem', 'root-cert.pem'];
  const chain = isTls ? ['tls.crt', 'ca.crt'] : ['cert-chain.pem'];
  const found =
    [certificate, key, root].filter(name => files.has(name)).length + (chain.some(name => files.has(name)) ? 1 : 0);
  if (found === 0) return 'none';
  if (found < 4) return 'incomplete';
  if (files.has(GENERATED) && !options.generatedCounts) return 'generated';
  // A file without content takes nothing back.
  const crl = !isTls && options.crl && text('ca-crl.pem').trim() !== '' ? { crl: text('ca-crl.pem') } : {};
  // Where the first of two files does not end with a newline, its last line and the first of the next are not PEM.
  const chainText = chain
    .map(text)
    .map(part => (part === '' || part.endsWith('\n') ? part : `${part}\n`))
    .join('');
  return {
    texts: {
      mode: 'plugged-in',
      certificate: text(certificate),
      key: text(key),
      chain: chainText,
      roots: text(root),
      ...crl,
    },
  };
}

/** What an operator may exchange while the control plane runs. Undefined: this bundle may follow that one. */
export function whyNotReplaced(before: SigningBundle, after: SigningBundle, multiRoot: boolean): string | undefined {
  if (before.roots === after.roots) return undefined;
  if (!multiRoot) return 'Multi root is disabled, updating new ROOT-CA not supported';
  const [old, young] = [before, after].map(
    ({ roots }) => new Set(certificateBlocks(roots).map(({ der }) => der.toString('hex'))),
  );
  const covers = (all: Set<string> | undefined, part: Set<string> | undefined): boolean =>
    all !== undefined && part !== undefined && part.size > 0 && [...part].every(one => all.has(one));
  return covers(old, young) || covers(young, old)
    ? undefined
    : 'the new roots neither contain nor are contained in the old ones: add the new root first, then change the signing certificate';
}
