// Keys and signatures, all of it on Node's thread pool: nothing here stalls streams. Private keys are KeyObjects, which
// print as nothing.
//
// Invariant: what leaves this file as text is public, or goes to the one who asked for a key in PEM.
// Source: Istio security/pkg/pki/util/crypto.go, security/pkg/pki/util/generate_cert.go. Go's x509 package
// picks the same signature algorithms.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import { bitsOf, elementOf, inside, oid, oidOf, sequence, TAG, write } from './der.ts';
import { pemBlocks } from './pem.ts';

export type KeyType = { readonly rsa: number } | { readonly ec: 'P-256' | 'P-384' };

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const generate = promisify(generateKeyPair);

export async function generateKeys(type: KeyType): Promise<KeyPair> {
  if ('rsa' in type) return generate('rsa', { modulusLength: type.rsa });
  return generate('ec', { namedCurve: type.ec });
}

/** The first block of a key file: PKCS #1, SEC 1 or PKCS #8. The message of the error never repeats the input. */
export function privateKeyOf(pem: string): KeyObject {
  const [block] = pemBlocks(pem);
  if (block === undefined) throw new Error('invalid PEM encoded key');
  try {
    if (block.label === 'RSA PRIVATE KEY') return createPrivateKey({ key: block.der, format: 'der', type: 'pkcs1' });
    if (block.label === 'EC PRIVATE KEY') return createPrivateKey({ key: block.der, format: 'der', type: 'sec1' });
    if (block.label === 'PRIVATE KEY') return createPrivateKey({ key: block.der, format: 'der', type: 'pkcs8' });
  } catch {
    throw new Error(`the key in the block ${block.label} cannot be read`);
  }
  throw new Error(`unsupported PEM block type for a private key: ${block.label}`);
}

/** As Istio writes them: PKCS #1 for RSA, SEC 1 for elliptic curves. */
export function privateKeyPem(key: KeyObject): string {
  if (key.asymmetricKeyType === 'rsa') return key.export({ format: 'pem', type: 'pkcs1' }) as string;
  if (key.asymmetricKeyType === 'ec') return key.export({ format: 'pem', type: 'sec1' }) as string;
  return key.export({ format: 'pem', type: 'pkcs8' }) as string;
}

export function publicKeyDer(key: KeyObject): Buffer {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ format: 'der', type: 'spki' });
}

const OID_RSA = '1.2.840.113549.1.1.1';
const OID_EC = '1.2.840.10045.2.1';
/** The parameters of an RSA key (RFC 3279 §2.3.1). */
const NULL = write(TAG.null);
const UNCOMPRESSED = 0x04;
/** Curve by its OID; `bytes` of one coordinate. */
const curves: Readonly<Record<string, { readonly crv: string; readonly bytes: number }>> = {
  '1.2.840.10045.3.1.7': { crv: 'P-256', bytes: 32 },
  '1.3.132.0.34': { crv: 'P-384', bytes: 48 },
  '1.3.132.0.35': { crv: 'P-521', bytes: 66 },
};

/**
 * The key of a SubjectPublicKeyInfo. OpenSSL looks for a decoder each time it reads one, which takes 0.2 ms of CPU; the
 * parts of RSA and of the usual curves are taken without (0.003 and 0.1 ms). Throws if the bytes are no key.
 */
export function publicKeyOf(spki: Uint8Array): KeyObject {
  const [algorithm, key, ...more] = inside(elementOf(spki), TAG.sequence);
  const [id, parameters, ...others] = inside(algorithm, TAG.sequence);
  const type = more.length + others.length === 0 && parameters !== undefined ? oidOf(id) : undefined;
  if (type === OID_RSA && parameters?.raw.equals(NULL)) {
    return createPublicKey({ key: bitsOf(key), format: 'der', type: 'pkcs1' });
  }
  const curve = type === OID_EC && parameters?.tag === TAG.oid ? curves[oidOf(parameters)] : undefined;
  if (curve !== undefined) {
    const [{ crv, bytes }, point] = [curve, bitsOf(key)];
    if (point[0] === UNCOMPRESSED && point.length === 1 + 2 * bytes) {
      const coordinate = (from: number): string => point.subarray(from, from + bytes).toString('base64url');
      return createPublicKey({
        key: { kty: 'EC', crv, x: coordinate(1), y: coordinate(1 + bytes) },
        format: 'jwk',
      });
    }
  }
  return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
}

/** Bits of an RSA key that may be certified: the fewest of Go's crypto/rsa (checkKeySize), the most of OpenSSL. */
const RSA_BITS_MIN = 1_024;
const RSA_BITS_MAX = 16_384;
/** As in Go's crypto/rsa (checkPublicKey). */
const EXPONENT_MAX = 2n ** 31n - 1n;
/** OpenSSL's names of the curves that Go's crypto/x509 reads (namedCurveFromOID). */
const CURVES: readonly string[] = ['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1'];

/** Why no certificate is issued for this key: istiod's crypto library does not take it, or it is weak. */
export function whyUnfit(spki: Uint8Array): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = publicKeyOf(spki);
  if (type === 'ed25519') return undefined;
  if (type === 'ec') {
    const { namedCurve = 'without a name' } = details;
    if (!CURVES.includes(namedCurve)) return `the elliptic curve ${namedCurve} is not supported`;
    // OpenSSL finds the name of a curve whose parameters are spelt out; others do not read such a certificate.
    const [, parameters] = inside(inside(elementOf(spki), TAG.sequence)[0], TAG.sequence);
    return parameters?.tag === TAG.oid ? undefined : 'the elliptic curve has no name';
  }
  if (type !== 'rsa') return `keys of type ${type ?? 'unknown'} are not supported`;
  const { modulusLength = 0, publicExponent = 0n } = details;
  if (modulusLength < RSA_BITS_MIN || modulusLength > RSA_BITS_MAX) return `an RSA key has ${modulusLength} bits`;
  const isOdd = publicExponent % 2n === 1n;
  return isOdd && publicExponent > 1n && publicExponent <= EXPONENT_MAX
    ? undefined
    : 'the exponent of an RSA key is not an odd number from 3 to 2^31 - 1';
}

/** sha256 (hex) of the SubjectPublicKeyInfo: the name of a key wherever a key must not stand. */
export function keyDigest(spki: Uint8Array): string {
  return createHash('sha256').update(spki).digest('hex');
}

interface Scheme {
  readonly oid: string;
  readonly hash: string | null;
  /** RSA algorithms carry an explicit NULL (RFC 4055 §5), the others nothing. */
  readonly hasNull: boolean;
}

const RSA_SHA256: Scheme = { oid: '1.2.840.113549.1.1.11', hash: 'sha256', hasNull: true };
const ED25519: Scheme = { oid: '1.3.101.112', hash: null, hasNull: false };
const ofCurve: Readonly<Record<string, Scheme>> = {
  prime256v1: { oid: '1.2.840.10045.4.3.2', hash: 'sha256', hasNull: false },
  secp384r1: { oid: '1.2.840.10045.4.3.3', hash: 'sha384', hasNull: false },
  secp521r1: { oid: '1.2.840.10045.4.3.4', hash: 'sha512', hasNull: false },
};

function schemeOf(key: KeyObject): Scheme {
  if (key.asymmetricKeyType === 'rsa') return RSA_SHA256;
  if (key.asymmetricKeyType === 'ed25519') return ED25519;
  const scheme = ofCurve[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (scheme === undefined) throw new Error(`a key of type ${key.asymmetricKeyType ?? 'unknown'} cannot sign`);
  return scheme;
}

const algorithms = new Map<Scheme, Buffer>();

/** The AlgorithmIdentifier of what this key signs. */
export function signatureAlgorithm(key: KeyObject): Buffer {
  const scheme = schemeOf(key);
  const known = algorithms.get(scheme);
  if (known !== undefined) return known;
  const made = sequence(oid(scheme.oid), ...(scheme.hasNull ? [write(TAG.null)] : []));
  algorithms.set(scheme, made);
  return made;
}

export function signBytes(key: KeyObject, bytes: Uint8Array): Promise<Buffer> {
  const { hash } = schemeOf(key);
  return new Promise((resolve, reject) => {
    sign(hash, bytes, key, (error, signature) => (error === null ? resolve(signature) : reject(error)));
  });
}

/**
 * Hash by the OID of a signature algorithm; SHA-1 counts for certificate requests, as in Go. PSS names its hash
 * elsewhere and is left out.
 */
const hashOf: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.1': 'sha1',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
};

/** OpenSSL verifies with the hash alone, so the kind of the key is compared first. */
function kindOf(algorithm: string): string {
  if (algorithm.startsWith('1.2.840.113549.1.1.')) return 'rsa';
  return algorithm.startsWith('1.2.840.10045.4.') ? 'ec' : 'ed25519';
}

/** The same at once, for what is read seldom. False also for a key of another kind. */
export function verifiesNow(algorithm: string, key: KeyObject, bytes: Uint8Array, signature: Uint8Array): boolean {
  const hash = hashOf[algorithm];
  try {
    return hash !== undefined && verify(hash, bytes, key, signature);
  } catch {
    return false;
  }
}

/** `algorithm`: an OID. False also for one that is not known. */
export function verifyBytes(
  algorithm: string,
  spki: Uint8Array,
  bytes: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const hash = hashOf[algorithm];
  if (hash === undefined) return Promise.resolve(false);
  const key = publicKeyOf(spki);
  if (key.asymmetricKeyType !== kindOf(algorithm)) return Promise.resolve(false);
  return new Promise((resolve, reject) => {
    verify(hash, bytes, key, signature, (error, fits) => (error === null ? resolve(fits) : reject(error)));
  });
}
