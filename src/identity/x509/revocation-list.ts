// Certificate revocation lists (RFC 5280 §5), as far as an authority's files need it: does each certificate of the
// chain have a list that it signed? Envoy refuses every chain of which one certificate has none, so a file that lacks
// one is refused before it is handed out.
// Source: Istio security/pkg/pki/util/keycertbundle.go (verifyCrl); Go crypto/x509 RevocationList.CheckSignatureFrom.

import type { X509Certificate } from 'node:crypto';
import { bitsOf, elementOf, inside, oidOf, TAG } from './der.ts';
import { verifiesNow } from './keys.ts';
import { pemBlocks } from './pem.ts';

interface RevocationList {
  /** What is signed. */
  readonly raw: Buffer;
  /** OID. */
  readonly algorithm: string;
  readonly signature: Buffer;
}

/** The problem with the lists; undefined: every certificate of the chain has its list in the text (PEM). */
export function missingRevocationLists(text: string, chain: readonly X509Certificate[]): string | undefined {
  let lists: readonly RevocationList[];
  try {
    lists = pemBlocks(text)
      .filter(({ label }) => label === 'X509 CRL')
      .map(({ der }) => listOf(der));
  } catch {
    return 'the revocation lists cannot be read';
  }
  if (lists.length === 0) return 'there is no revocation list in the file';
  const missing = chain.filter(certificate => !lists.some(list => isSignedBy(list, certificate)));
  if (missing.length === 0) return undefined;
  const names = missing.map(({ subject, serialNumber }) => `${(subject ?? '').replaceAll('\n', ',')} ${serialNumber}`);
  return `missing CRL signed by certificates: [${names.join('; ')}]`;
}

function listOf(der: Buffer): RevocationList {
  const [raw, algorithm, signature] = inside(elementOf(der), TAG.sequence);
  if (raw === undefined) throw new Error('not a revocation list');
  return { raw: raw.raw, algorithm: oidOf(inside(algorithm, TAG.sequence)[0]), signature: bitsOf(signature) };
}

function isSignedBy({ raw, algorithm, signature }: RevocationList, { publicKey }: X509Certificate): boolean {
  return verifiesNow(algorithm, publicKey, raw, signature);
}
