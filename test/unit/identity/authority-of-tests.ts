// Authorities for tests: a self-signed one, and one with an intermediate below a corporate root.

import { X509Certificate } from 'node:crypto';
import { Authority } from '../../../src/identity/authority.ts';
import { type SigningBundle, signingBundle } from '../../../src/identity/bundle.ts';
import { generateKeys, privateKeyPem } from '../../../src/identity/x509/keys.ts';
import { pemOf } from '../../../src/identity/x509/pem.ts';
import { makeRoot, type Signer, signerOf } from '../../../src/identity/x509/profile.ts';

export const NOW = Date.UTC(2026, 5, 1);
export const DAY_MS = 86_400_000;

export interface TestRoot {
  readonly signer: Signer;
  readonly certificate: string;
  readonly key: string;
}

export async function testRoot(organization = 'cluster.local', ttlMs = 3_650 * DAY_MS, now = NOW): Promise<TestRoot> {
  const { privateKey } = await generateKeys({ ec: 'P-256' });
  const { der } = await makeRoot({ key: privateKey, organization, now, ttlMs });
  return {
    signer: signerOf(new X509Certificate(der), privateKey),
    certificate: pemOf('CERTIFICATE', der),
    key: privateKeyPem(privateKey),
  };
}

export function selfSignedBundle({ certificate, key }: TestRoot, now = NOW): SigningBundle {
  return signingBundle({ mode: 'self-signed', certificate, key, chain: '', roots: certificate }, now);
}

export async function testAuthority(now: () => number = () => NOW): Promise<Authority> {
  const root = await testRoot('cluster.local', 3_650 * DAY_MS, now());
  return new Authority(selfSignedBundle(root, now()), { now, defaultTtlMs: DAY_MS, maxTtlMs: 90 * DAY_MS });
}
