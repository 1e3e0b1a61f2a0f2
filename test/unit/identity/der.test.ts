import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  elementOf,
  elementsOf,
  integer,
  octets,
  oid,
  oidOf,
  sequence,
  time,
  write,
} from '../../../src/identity/x509/der.ts';
import { publicKeyOf } from '../../../src/identity/x509/keys.ts';
import { pemOf } from '../../../src/identity/x509/pem.ts';
import { readRequest } from '../../../src/identity/x509/request.ts';
import { signingRequest } from './signing-request.ts';

describe('DER', () => {
  it('is decoded to what was encoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70_000, size: 'max' }), bytes => {
        const [element] = elementsOf(octets(bytes));
        expect(element!.content.equals(bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it.each(['1.2.840.113549.1.1.11', '2.5.29.17', '1.3.101.112', '2.999.1'])('keeps the object identifier %s', id => {
    expect(oidOf(elementOf(oid(id)))).toBe(id);
  });

  it('encodes positive numbers, and times of both centuries', () => {
    expect(integer(Uint8Array.of(0x80)).toString('hex')).toBe('02020080');
    expect(time(Date.UTC(2049, 11, 31, 23, 59, 59)).toString('latin1')).toContain('491231235959Z');
    expect(time(Date.UTC(2050, 0)).toString('latin1')).toContain('20500101000000Z');
  });

  it('refuses lengths that are indefinite, not minimal, or reach too far', () => {
    for (const hex of ['3080', '30810101', '3082000100', '3005', '30', '3f8101', '3085000000000100']) {
      expect(() => elementsOf(Buffer.from(hex, 'hex'))).toThrow();
    }
    expect(() => elementOf(Buffer.concat([sequence(), sequence()]))).toThrow('expected one');
    expect(write(5).toString('hex')).toBe('0500');
  });
});

describe('a public key', () => {
  const rsa = [2_048, 4_096].map(modulusLength => generateKeyPairSync('rsa', { modulusLength }).publicKey);
  const curves = ['P-256', 'P-384', 'P-521', 'secp256k1'];
  const ec = curves.map(namedCurve => generateKeyPairSync('ec', { namedCurve }).publicKey);
  const keys = [...rsa, ...ec, generateKeyPairSync('ed25519').publicKey];

  it('is the one that OpenSSL reads from the same bytes', () => {
    for (const key of keys) expect(publicKeyOf(key.export({ format: 'der', type: 'spki' })).equals(key)).toBe(true);
  });

  it('with any one byte changed is the one that OpenSSL reads, or none', () => {
    const texts = keys.map(key => key.export({ format: 'der', type: 'spki' }));
    const read = (from: () => KeyObject): string | undefined => {
      try {
        return from().export({ format: 'der', type: 'spki' }).toString('hex');
      } catch {
        return undefined;
      }
    };
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.nat(40), fc.integer({ min: 1, max: 255 }), (spki, at, flip) => {
        const changed = Buffer.from(spki);
        changed[at] = changed[at]! ^ flip;
        const found = read(() => publicKeyOf(changed));
        if (found !== undefined) {
          expect(read(() => createPublicKey({ key: changed, format: 'der', type: 'spki' }))).toBe(found);
        }
      }),
      { numRuns: 1_000, seed: 17 },
    );
  });
});

describe('a signing request', () => {
  it('with any one byte changed is refused with an error and nothing else', async () => {
    const { der } = await signingRequest({ names: ['spiffe://cluster.local/ns/a/sa/b'] });
    await fc.assert(
      fc.asyncProperty(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const changed = Buffer.from(der);
        changed[at] = changed[at]! ^ flip;
        await expect(readRequest(pemOf('CERTIFICATE REQUEST', changed))).rejects.toBeInstanceOf(Error);
      }),
      { numRuns: 300 },
    );
  });

  it('of arbitrary bytes is refused with an error and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300, size: 'max' }), async bytes => {
        await expect(readRequest(pemOf('CERTIFICATE REQUEST', bytes))).rejects.toBeInstanceOf(Error);
      }),
      { numRuns: 200 },
    );
  });
});
