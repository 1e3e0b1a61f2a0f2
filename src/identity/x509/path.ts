// Does a certificate verify against roots, through intermediates, at a time? For the files of an authority, which are
// read seldom: signatures are checked on the spot.
//
// As Go does it, any certificate of the root file is an anchor, self-signed or not, and an EKU extension anywhere on
// the path must allow what is asked.
// Source: Istio security/pkg/pki/util/verify_cert.go (VerifyCertificate); Go crypto/x509 Certificate.Verify.

import type { X509Certificate } from 'node:crypto';

export interface PathOptions {
  readonly intermediates: readonly X509Certificate[];
  readonly roots: readonly X509Certificate[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** OID that extended key usages must allow, where a certificate has any. */
  readonly usage: string;
}

/** Certificates on a path, the verified one not counted. */
const PATH_LENGTH_MAX = 8;
export const OID_ANY_USAGE = '2.5.29.37.0';

/** Undefined: it verifies; else what is wrong, in words. */
export function whyUnverified(certificate: X509Certificate, options: PathOptions): string | undefined {
  const late = whyNotNow(certificate, options.now);
  if (late !== undefined) return late;
  if (!allows(certificate, options.usage)) return 'its extended key usage does not allow this use';
  return hasPath(certificate, options, PATH_LENGTH_MAX) ? undefined : 'it was not signed by any of the roots';
}

function hasPath(certificate: X509Certificate, options: PathOptions, depth: number): boolean {
  const { roots, intermediates, now, usage } = options;
  if (roots.some(root => root.fingerprint256 === certificate.fingerprint256)) return true;
  const isGood = (candidate: X509Certificate): boolean =>
    whyNotNow(candidate, now) === undefined && allows(candidate, usage);
  if (roots.some(root => isGood(root) && isIssuer(root, certificate))) return true;
  if (depth === 0) return false;
  return intermediates.some(
    next =>
      next.fingerprint256 !== certificate.fingerprint256 &&
      next.ca &&
      isGood(next) &&
      isIssuer(next, certificate) &&
      hasPath(next, { ...options, intermediates: intermediates.filter(other => other !== next) }, depth - 1),
  );
}

function isIssuer(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function whyNotNow({ validFrom, validTo }: X509Certificate, now: number): string | undefined {
  if (Date.parse(validTo) < now) return `it expired at ${validTo}`;
  return Date.parse(validFrom) > now ? `it is not valid before ${validFrom}` : undefined;
}

/** `keyUsage` of Node is the list of extended usages. */
export function allows({ keyUsage }: X509Certificate, usage: string): boolean {
  const usages: readonly string[] | undefined = keyUsage;
  return usages === undefined || usages.includes(usage) || usages.includes(OID_ANY_USAGE);
}
