// Certificates of servers and clients for tests, signed by an authority of the test.

import { generateKeys, privateKeyPem, publicKeyDer } from '../../src/identity/x509/keys.ts';
import { pemOf } from '../../src/identity/x509/pem.ts';
import { makeLeaf } from '../../src/identity/x509/profile.ts';
import { DAY_MS, type TestRoot, testRoot } from '../unit/identity/authority-of-tests.ts';

export interface Leaf {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export function rootOf(organization: string): Promise<TestRoot> {
  return testRoot(organization, DAY_MS, Date.now());
}

/** `names`: DNS names, addresses or URIs. */
export async function leafOf({ signer }: TestRoot, ...names: readonly string[]): Promise<Leaf> {
  const { privateKey } = await generateKeys({ ec: 'P-256' });
  const request = { spki: publicKeyDer(privateKey), identities: names, hasCommonName: false, ttlMs: DAY_MS / 2 };
  const { der } = await makeLeaf(signer, { ...request, now: Date.now() });
  return { cert: pemOf('CERTIFICATE', der), key: privateKeyPem(privateKey) };
}
