// Which client certificates may come in. All of them are signed by the mesh's authority or could be.

import { describe, expect, it } from 'vitest';
import { whyNotAdmitted } from '../../../src/identity/admission.ts';
import { generateKeys, publicKeyDer } from '../../../src/identity/x509/keys.ts';
import { testAuthority } from './authority-of-tests.ts';

const ALICE = 'spiffe://cluster.local/ns/a/sa/alice';

async function leafOf(...identities: readonly string[]): Promise<Buffer> {
  const authority = await testAuthority();
  const { publicKey } = await generateKeys({ ec: 'P-256' });
  return (await authority.certify(publicKeyDer(publicKey), identities)).leaf;
}

/** The certificate with other bytes in the place of some, of equal length. */
function changed(leaf: Buffer, from: Buffer, to: Buffer): Buffer {
  const at = leaf.indexOf(from);
  expect(at).toBeGreaterThan(0);
  return Buffer.concat([leaf.subarray(0, at), to, leaf.subarray(at + from.length)]);
}

/** Of id-kp: serverAuth, clientAuth, codeSigning. */
const usage = (last: number): Buffer => Buffer.from([6, 8, 0x2b, 6, 1, 5, 5, 7, 3, last]);

describe('a client certificate', () => {
  it('of one workload identity of the mesh is admitted', async () => {
    expect(whyNotAdmitted(await leafOf(ALICE), ['cluster.local'])).toBeUndefined();
    expect(whyNotAdmitted(await leafOf(ALICE, 'alice.a.svc'), ['elsewhere', 'cluster.local'])).toBeUndefined();
  });

  it.each([
    ['without an identity', ['alice.a.svc'], 'has 0 URIs'],
    ['with two identities', [ALICE, 'spiffe://cluster.local/ns/a/sa/bob'], 'has 2 URIs'],
    ['of another trust domain', ['spiffe://elsewhere/ns/a/sa/alice'], 'of the trust domain elsewhere'],
  ])('%s is refused', async (_, identities, why) => {
    expect(whyNotAdmitted(await leafOf(...identities), ['cluster.local'])).toContain(why);
  });

  it.each([
    ['clients', 2],
    ['servers', 1],
  ])('that is not for %s is refused', async (_, last) => {
    const leaf = changed(await leafOf(ALICE), usage(last), usage(3));
    expect(whyNotAdmitted(leaf, ['cluster.local'])).toBe('its certificate is not for clients and servers');
  });

  it('that cannot be read is refused', async () => {
    const leaf = await leafOf(ALICE);
    const cut = changed(leaf, usage(2), Buffer.from([6, 9, 0x2b, 6, 1, 5, 5, 7, 3, 2]));
    expect(whyNotAdmitted(cut, ['cluster.local'])).toBe('its certificate cannot be read');
    expect(whyNotAdmitted(leaf.subarray(0, 40), ['cluster.local'])).toBe('its certificate cannot be read');
  });
});
