import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { missingRevocationLists } from '../../../src/identity/x509/revocation-list.ts';
import { makeCertificates } from '../../e2e/certificates.ts';

describe('revocation lists of a chain', () => {
  const [root, other] = [makeCertificates('root'), makeCertificates('other')];
  const [a, b] = [new X509Certificate(root.certificate), new X509Certificate(other.certificate)];

  it('are whole with one of each certificate, in any order', () => {
    expect(missingRevocationLists(root.revocations, [a])).toBeUndefined();
    expect(missingRevocationLists(other.revocations + root.revocations, [a, b])).toBeUndefined();
  });

  it('lack the certificates that have signed none', () => {
    expect(missingRevocationLists(root.revocations, [a, b])).toMatch(
      /^missing CRL signed by certificates: \[CN=other \w+\]$/,
    );
    // The same name signs with another key.
    expect(missingRevocationLists(makeCertificates('root').revocations, [a])).toContain('CN=root');
  });

  it.each([
    ['no list', 'text', 'there is no revocation list in the file'],
    ['a certificate', root.certificate, 'there is no revocation list in the file'],
    ['no DER', '-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n', 'the revocation lists cannot be read'],
  ])('cannot be had of %s', (_, text, why) => {
    expect(missingRevocationLists(text, [a])).toBe(why);
  });
});
