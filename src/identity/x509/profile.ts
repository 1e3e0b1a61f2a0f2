// The three certificates that this control plane makes: a self-signed root, the leaf of a workload, its own serving
// certificate.
//
// Invariants: what is signed names nothing but the given identities; the alternative names are critical (the subject is
// empty); notAfter never lies behind that of the signing certificate. Only signing is asynchronous.
// Source: Istio security/pkg/pki/util/generate_cert.go; RFC 5280 §4.1, §4.2.1.

import { createHash, createPublicKey, type KeyObject, randomBytes, type X509Certificate } from 'node:crypto';
import {
  bits,
  bitsOf,
  boolean,
  constructed,
  contentOf,
  elementOf,
  inside,
  integer,
  octets,
  oid,
  primitive,
  sequence,
  TAG,
  time,
  write,
} from './der.ts';
import { publicKeyDer, signatureAlgorithm, signBytes } from './keys.ts';
import {
  alternativeNamesValue,
  commonName,
  emptyName,
  OID_ALTERNATIVE_NAMES,
  organization,
  partsOfCertificate,
} from './names.ts';

/** Who signs: the certificate and its key. */
export interface Signer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
  /** Of `certificate`, as DER. */
  readonly subject: Buffer;
  /** Its subject key id; undefined: it has none. */
  readonly keyId: Buffer | undefined;
  /** The extension of leaves that names this key; empty: it has no id. */
  readonly authorityKeyId: readonly Buffer[];
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
}

export interface LeafRequest {
  /** SubjectPublicKeyInfo of the key that is certified. */
  readonly spki: Uint8Array;
  readonly identities: readonly string[];
  /** The request had a common name: the certificate gets its first identity as one, if that is short enough. */
  readonly hasCommonName: boolean;
  readonly now: number;
  readonly ttlMs: number;
}

export interface Made {
  readonly der: Buffer;
  /** Lower-case hex. */
  readonly serial: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Clocks of proxies may be behind by so much. */
export const LEAF_BACKDATE_MS = 120_000;
/** X.520 upper bound of a common name. */
const COMMON_NAME_BYTES_MAX = 64;
const SERIAL_BYTES = 16;
const KEY_ID_BYTES = 20;

const OID_SUBJECT_KEY_ID = '2.5.29.14';
const OID_KEY_USAGE = '2.5.29.15';
const OID_BASIC_CONSTRAINTS = '2.5.29.19';
const OID_AUTHORITY_KEY_ID = '2.5.29.35';
export const OID_EXTENDED_KEY_USAGE = '2.5.29.37';
export const OID_SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
export const OID_CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

export function signerOf(certificate: X509Certificate, key: KeyObject): Signer {
  const { subject, extensions } = partsOfCertificate(certificate.raw);
  const found = extensions.find(({ oid: id }) => id === OID_SUBJECT_KEY_ID);
  const keyId = found === undefined ? undefined : contentOf(elementOf(found.value), TAG.octetString);
  const authorityKeyId = keyId === undefined ? [] : [authorityKeyIdOf(keyId)];
  return { certificate, key, subject, keyId, authorityKeyId, notAfter: Date.parse(certificate.validTo) };
}

/** Rejects if the signing certificate has expired. */
export async function makeLeaf(signer: Signer, request: LeafRequest): Promise<Made> {
  const { identities, spki, now, ttlMs } = request;
  if (signer.notAfter <= now) {
    throw new Error(`signing certificate has expired at ${new Date(signer.notAfter).toISOString()}`);
  }
  const [first = ''] = identities;
  const isNamed = request.hasCommonName && Buffer.byteLength(first) <= COMMON_NAME_BYTES_MAX;
  const extensions = [
    ...leafExtensions,
    ...signer.authorityKeyId,
    extension(OID_ALTERNATIVE_NAMES, true, alternativeNamesValue(identities)),
  ];
  return signed(signer.key, {
    issuer: signer.subject,
    subject: isNamed ? commonName(first) : emptyName,
    spki,
    notBefore: now - LEAF_BACKDATE_MS,
    notAfter: Math.min(now + ttlMs, signer.notAfter),
    extensions,
  });
}

export interface RootRequest {
  readonly key: KeyObject;
  readonly organization: string;
  readonly now: number;
  readonly ttlMs: number;
  /**
   * The certificate that this one replaces with the same key: its subject and key id are kept, so that leaves of both
   * verify with either.
   */
  readonly replaces?: Signer;
}

export async function makeRoot({ key, organization: text, now, ttlMs, replaces }: RootRequest): Promise<Made> {
  const spki = publicKeyDer(key);
  const subject = replaces?.subject ?? organization(text);
  const keyId = replaces === undefined ? keyIdOf(spki) : replaces.keyId;
  return signed(key, {
    issuer: subject,
    subject,
    spki,
    notBefore: now,
    notAfter: now + ttlMs,
    extensions: [
      extension(OID_KEY_USAGE, true, bits(Uint8Array.of(KEY_CERT_SIGN), 2)),
      extension(OID_BASIC_CONSTRAINTS, true, sequence(boolean(true))),
      ...(keyId === undefined ? [] : [extension(OID_SUBJECT_KEY_ID, false, octets(keyId))]),
    ],
  });
}

/** The first 20 bytes of the SHA-256 of the public key, as Go has it since 1.25. */
function keyIdOf(spki: Buffer): Buffer {
  const [, key] = inside(elementOf(spki), TAG.sequence);
  return createHash('sha256').update(bitsOf(key)).digest().subarray(0, KEY_ID_BYTES);
}

interface Contents {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly spki: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly extensions: readonly Buffer[];
}

async function signed(key: KeyObject, contents: Contents): Promise<Made> {
  const serial = serialNumber();
  const [notBefore, notAfter] = [toSeconds(contents.notBefore), toSeconds(contents.notAfter)];
  const algorithm = signatureAlgorithm(key);
  const certified = sequence(
    write(constructed(0), integer(Uint8Array.of(VERSION_3))),
    integer(serial),
    algorithm,
    contents.issuer,
    sequence(time(notBefore), time(notAfter)),
    contents.subject,
    contents.spki,
    write(constructed(3), sequence(...contents.extensions)),
  );
  const signature = await signBytes(key, certified);
  return { der: sequence(certified, algorithm, bits(signature)), serial: serial.toString('hex'), notBefore, notAfter };
}

/** Positive, below 2^127, and as long as it can be, so that its encoding needs no padding. */
function serialNumber(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return bytes;
}

/** Certificates know whole seconds. */
function toSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

const VERSION_3 = 2;
/** Bits of KeyUsage, the first the highest. */
const DIGITAL_SIGNATURE = 0x80;
const KEY_ENCIPHERMENT = 0x20;
const KEY_CERT_SIGN = 0x04;

const leafExtensions: readonly Buffer[] = [
  extension(OID_KEY_USAGE, true, bits(Uint8Array.of(DIGITAL_SIGNATURE | KEY_ENCIPHERMENT), 5)),
  extension(OID_EXTENDED_KEY_USAGE, false, sequence(oid(OID_SERVER_AUTH), oid(OID_CLIENT_AUTH))),
  // CA is false by default, and DER leaves defaults out.
  extension(OID_BASIC_CONSTRAINTS, true, sequence()),
];

function authorityKeyIdOf(keyId: Uint8Array): Buffer {
  return extension(OID_AUTHORITY_KEY_ID, false, sequence(write(primitive(0), keyId)));
}

function extension(id: string, critical: boolean, value: Uint8Array): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
}

/** True if the key is the private half of the certificate's. */
export function fits(certificate: X509Certificate, key: KeyObject): boolean {
  return publicKeyDer(certificate.publicKey).equals(createPublicKey(key).export({ format: 'der', type: 'spki' }));
}
