import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Authority, type SigningError } from '../../../src/identity/authority.ts';
import { publicKeyDer, whyUnfit } from '../../../src/identity/x509/keys.ts';
import { alternativeNamesOf } from '../../../src/identity/x509/names.ts';
import { certificateBlocks, pemOf } from '../../../src/identity/x509/pem.ts';
import { DAY_MS, NOW, selfSignedBundle, testAuthority, testRoot } from './authority-of-tests.ts';
import { type RequestOptions, signingRequest } from './signing-request.ts';

const ALICE = 'spiffe://cluster.local/ns/a/sa/alice';

/** A key whose exponents are exchanged: what is public has as many bits as the modulus. */
function exponentOfManyBits(): KeyObject {
  const jwk = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  const number = (text = ''): bigint => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
  const text = (value: bigint): string => {
    const hex = value.toString(16);
    return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url');
  };
  const [e, p, q] = [number(jwk.e), number(jwk.p), number(jwk.q)];
  const exchanged = { e: jwk.d!, d: jwk.e!, dp: text(e % (p - 1n)), dq: text(e % (q - 1n)) };
  return createPrivateKey({ key: { ...jwk, ...exchanged }, format: 'jwk' });
}

async function leafOf(options: RequestOptions = {}, identities: readonly string[] = [ALICE]): Promise<X509Certificate> {
  const authority = await testAuthority();
  const { certChain } = await authority.sign((await signingRequest(options)).pem, identities, 0);
  return new X509Certificate(certChain[0]!);
}

describe('the certificate authority', () => {
  it('signs a leaf that verifies with its root and holds the key of the request', async () => {
    const authority = await testAuthority();
    const { pem, key } = await signingRequest();
    const { certChain } = await authority.sign(pem, [ALICE], 0);
    const [leaf, root] = certChain.map(text => new X509Certificate(text));
    expect(certChain).toHaveLength(2);
    expect(leaf!.checkIssued(root!) && leaf!.verify(root!.publicKey)).toBe(true);
    expect(leaf!.checkPrivateKey(key)).toBe(true);
  });

  it('takes the identity from the caller and nothing of the names in the request', async () => {
    const leaf = await leafOf({ names: ['spiffe://cluster.local/ns/b/sa/mallory', 'evil.example.com'] });
    expect(alternativeNamesOf(leaf.raw)).toEqual([{ kind: 'uri', text: ALICE }]);
    expect(leaf.subject ?? '').toBe('');
  });

  it('gives the leaf a common name only if the request has one and it is short', async () => {
    expect((await leafOf({ commonName: 'x' })).subject).toBe(`CN=${ALICE}`);
    const long = `spiffe://cluster.local/ns/${'n'.repeat(60)}/sa/a`;
    expect((await leafOf({ commonName: 'x' }, [long])).subject ?? '').toBe('');
  });

  it('lets a leaf begin two minutes ago, allow client and server, and sign nothing', async () => {
    const leaf = await leafOf();
    expect(Date.parse(leaf.validFrom)).toBe(NOW - 120_000);
    expect(Date.parse(leaf.validTo)).toBe(NOW + DAY_MS);
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect(leaf.ca).toBe(false);
  });

  it.each([
    ['RSA 2048', { rsa: 2048 }],
    ['P-256', { ec: 'P-256' }],
    ['P-384', { ec: 'P-384' }],
  ] as const)('certifies keys of type %s', async (_, type) => {
    expect((await leafOf({ type })).raw.length).toBeGreaterThan(300);
  });

  it('certifies Ed25519 keys', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    expect((await leafOf({ key: privateKey })).publicKey.asymmetricKeyType).toBe('ed25519');
  });

  it('writes every kind of alternative name', async () => {
    const leaf = await leafOf({}, [ALICE, 'istiod.istio-system.svc', '10.0.0.1', '2001:db8::1', '::ffff:1.2.3.4']);
    expect(leaf.subjectAltName).toBe(
      `URI:${ALICE}, DNS:istiod.istio-system.svc, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1, IP Address:0:0:0:0:0:FFFF:102:304`,
    );
  });

  it('refuses requests that are not signed by their own key, cut off, or no requests', async () => {
    const authority = await testAuthority();
    const good = await signingRequest();
    const bad = [
      (await signingRequest({ forged: true })).pem,
      pemOf('CERTIFICATE REQUEST', good.der.subarray(0, 100)),
      pemOf('CERTIFICATE REQUEST', Buffer.concat([good.der, Buffer.of(5, 0)])),
      'not PEM',
      '',
      'x'.repeat(100_000),
    ];
    for (const pem of bad) {
      const error = await authority.sign(pem, [ALICE], 0).then(
        () => undefined,
        (why: SigningError) => why.kind,
      );
      expect(error).toBe('CSR_ERROR');
    }
  });

  it.each<[string, () => KeyObject]>([
    ['an RSA key of 512 bits', () => generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey],
    ['an RSA key with an exponent of 2,048 bits', exponentOfManyBits],
    [
      'a curve that is spelt out',
      () => generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' }).privateKey,
    ],
  ])('refuses to certify %s', async (_, key) => {
    const error = await leafOf({ key: key() }).then(
      () => undefined,
      (why: SigningError) => why,
    );
    expect(error?.kind).toBe('CSR_ERROR');
    expect(error?.message).toContain('cannot be certified');
  });

  it('refuses to certify keys of kinds and curves that Go does not read', () => {
    const { privateKey: dsa } = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 });
    const { privateKey: ed448 } = generateKeyPairSync('ed448');
    const curves = ['secp112r1', 'secp256k1', 'sect571r1'];
    const others = curves.map(namedCurve => generateKeyPairSync('ec', { namedCurve }).privateKey);
    for (const key of [dsa, ed448, ...others]) {
      expect(whyUnfit(publicKeyDer(key))).toContain('not supported');
    }
  });

  it('refuses to certify a key whose exponent lets anybody sign', () => {
    const { n = '' } = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
    for (const exponent of ['AQ', 'AQAA']) {
      const key = createPublicKey({ key: { kty: 'RSA', n, e: exponent }, format: 'jwk' });
      expect(whyUnfit(publicKeyDer(key))).toContain('exponent');
    }
  });

  it('refuses a longer life than the maximum, and cuts one down to that of the signing certificate', async () => {
    const authority = new Authority(selfSignedBundle(await testRoot('cluster.local', DAY_MS / 24)), {
      now: () => NOW,
      defaultTtlMs: DAY_MS,
      maxTtlMs: 90 * DAY_MS,
    });
    const { pem } = await signingRequest();
    await expect(authority.sign(pem, [ALICE], (90 * DAY_MS) / 1_000 + 1)).rejects.toThrow(
      'requested TTL 2160h0m1s is greater than the max allowed TTL 2160h0m0s',
    );
    expect((await authority.sign(pem, [ALICE], -1)).notAfter).toBe(NOW + DAY_MS / 24);
  });

  it('refuses to sign with a certificate that has expired', async () => {
    const bundle = selfSignedBundle(await testRoot('cluster.local', DAY_MS));
    const authority = new Authority(bundle, { now: () => NOW + 2 * DAY_MS, defaultTtlMs: DAY_MS, maxTtlMs: DAY_MS });
    const { pem } = await signingRequest();
    await expect(authority.sign(pem, [ALICE], 0)).rejects.toMatchObject({ kind: 'CERT_GEN_ERROR' });
  });

  it('answers with the chain of the bundle that signed, also if it is exchanged meanwhile', async () => {
    const authority = await testAuthority();
    const { pem } = await signingRequest();
    const before = authority.bundle.roots;
    const signing = authority.sign(pem, [ALICE], 0);
    authority.replace(selfSignedBundle(await testRoot('other')));
    const { certChain } = await signing;
    expect(certChain.at(-1)).toBe(before);
    expect(certificateBlocks(certChain.join(''))).toHaveLength(2);
  });
});
