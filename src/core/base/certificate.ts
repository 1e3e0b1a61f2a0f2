// Certificates and keys in PEM, as far as their status needs them: whether a text holds one, and whether a chain and a
// private key belong together. No signature is checked and nothing is decided about trust; proxies do that.
//
// The messages are those of Go's crypto/tls (X509KeyPair), which users know from istiod. Total for any text; a key
// whose public half is not written in it (Ed25519) is taken to belong.

import { bytesOfBase64 } from './base64.ts';

/** What the values of a redacted journal begin with, decoded: nothing can be said of them, so they count as sound. */
export const REDACTED_MARK = 'redacted';

interface PemBlock {
  readonly label: string;
  readonly der: Uint8Array;
}

/** Undefined: a chain and its key. */
export function pairProblem(chain: string, key: string): string | undefined {
  const chainBlocks = pemBlocks(chain);
  const certificate = chainBlocks.find(({ label }) => label === 'CERTIFICATE');
  if (certificate === undefined) return noCertificate(chainBlocks);
  const keyBlocks = pemBlocks(key);
  const found = keyBlocks.find(({ label }) => label === 'PRIVATE KEY' || label.endsWith(' PRIVATE KEY'));
  if (found === undefined) return noKey(keyBlocks);
  if (isRedacted(certificate.der) || isRedacted(found.der)) return undefined;
  const subject = subjectKey(certificate.der);
  if (subject === undefined) return 'x509: malformed certificate';
  const owned = privateKey(found.der);
  if (owned === undefined) return 'tls: failed to parse private key';
  if (owned.type !== subject.type) return 'tls: private key type does not match public key type';
  const same = owned.publicKey === undefined || sameBytes(owned.publicKey, subject.publicKey);
  return same ? undefined : 'tls: private key does not match public key';
}

/** At least one certificate that can be read. */
export function hasCertificate(text: string): boolean {
  return pemBlocks(text).some(
    ({ label, der }) => label === 'CERTIFICATE' && (isRedacted(der) || subjectKey(der) !== undefined),
  );
}

function noCertificate(blocks: readonly PemBlock[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (blocks.length === 1 && blocks[0]!.label.endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  const labels = blocks.map(({ label }) => label).join(' ');
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${labels}]`;
}

function noKey(blocks: readonly PemBlock[]): string {
  if (blocks.length === 0) return 'tls: failed to find any PEM data in key input';
  if (blocks.length === 1 && blocks[0]!.label === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  const labels = blocks.map(({ label }) => label).join(' ');
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${labels}]`;
}

function isRedacted(der: Uint8Array): boolean {
  return [...REDACTED_MARK].every((character, i) => der[i] === character.charCodeAt(0));
}

const BEGIN = '-----BEGIN ';
const DASHES = '-----';

/** The blocks of a text; whatever stands between them is passed over. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let at = text.indexOf(BEGIN);
  while (at >= 0) {
    const afterLabel = text.indexOf(DASHES, at + BEGIN.length);
    if (afterLabel < 0) break;
    const label = text.slice(at + BEGIN.length, afterLabel);
    const content = afterLabel + DASHES.length;
    const end = text.indexOf(DASHES, content);
    if (end < 0) break;
    const closing = `${DASHES}END ${label}${DASHES}`;
    if (text.startsWith(closing, end)) blocks.push({ label, der: derOf(text.slice(content, end)) });
    at = text.indexOf(BEGIN, end);
  }
  return blocks;
}

/** Without the headers that old encrypted keys have. */
function derOf(content: string): Uint8Array {
  const blank = content.indexOf(':') < 0 ? -1 : content.search(/\r?\n\r?\n/);
  return bytesOfBase64(blank < 0 ? content : content.slice(blank));
}

interface PublicKey {
  /** The algorithm, as the bytes of its object identifier in hexadecimal. */
  readonly type: string;
  /** The content of the bit string of SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OID = 0x06;
const CONTEXT_0 = 0xa0;
const CONTEXT_1 = 0xa1;
const RSA = '2a864886f70d010101';
const EC = '2a8648ce3d0201';

/** RFC 5280, section 4.1: the key that a certificate is about. */
function subjectKey(der: Uint8Array): PublicKey | undefined {
  const certificate = childrenOf(only(der, SEQUENCE));
  const tbs = childrenOf(certificate?.[0]);
  if (tbs === undefined) return undefined;
  const at = tbs[0]?.tag === CONTEXT_0 ? 6 : 5;
  const info = childrenOf(tbs[at]);
  const algorithm = childrenOf(info?.[0])?.[0];
  const bits = info?.[1];
  if (algorithm?.tag !== OID || bits?.tag !== BIT_STRING || bits.content.length < 2) return undefined;
  return { type: hex(algorithm.content), publicKey: bits.content.subarray(1) };
}

/** PKCS #8 (RFC 5958), PKCS #1 (RFC 8017) or SEC 1 (RFC 5915). */
function privateKey(der: Uint8Array): (Omit<PublicKey, 'publicKey'> & Partial<PublicKey>) | undefined {
  const parts = childrenOf(only(der, SEQUENCE));
  if (parts?.[0]?.tag !== INTEGER) return undefined;
  const [, second, third] = parts;
  if (second?.tag === SEQUENCE && third?.tag === OCTET_STRING) {
    const algorithm = childrenOf(second)?.[0];
    if (algorithm?.tag !== OID) return undefined;
    const type = hex(algorithm.content);
    if (type !== RSA && type !== EC) return { type };
    const inner = childrenOf(only(third.content, SEQUENCE));
    return inner === undefined ? undefined : type === RSA ? rsaKey(inner) : ecKey(inner);
  }
  return second?.tag === OCTET_STRING ? ecKey(parts) : rsaKey(parts);
}

function rsaKey(parts: readonly Element[]): PublicKey | undefined {
  const [, modulus, exponent] = parts;
  if (modulus?.tag !== INTEGER || exponent?.tag !== INTEGER) return undefined;
  const content = [...modulus.raw, ...exponent.raw];
  return { type: RSA, publicKey: Uint8Array.from([SEQUENCE, ...lengthOf(content.length), ...content]) };
}

function ecKey(parts: readonly Element[]): { readonly type: string; readonly publicKey?: Uint8Array } | undefined {
  const tagged = parts.find(({ tag }) => tag === CONTEXT_1);
  if (tagged === undefined) return { type: EC };
  const bits = only(tagged.content, BIT_STRING);
  return bits === undefined ? undefined : { type: EC, publicKey: bits.content.subarray(1) };
}

function lengthOf(size: number): readonly number[] {
  if (size < 0x80) return [size];
  return size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
}

interface Element {
  readonly tag: number;
  readonly raw: Uint8Array;
  readonly content: Uint8Array;
}

function only(bytes: Uint8Array, tag: number): Element | undefined {
  const elements = elementsOf(bytes);
  return elements?.[0]?.tag === tag ? elements[0] : undefined;
}

function childrenOf(element: Element | undefined): readonly Element[] | undefined {
  return element?.tag === SEQUENCE ? elementsOf(element.content) : undefined;
}

/** Of a certificate, its body or a key: ten are usual. */
const ELEMENTS_MAX = 256;

/** Undefined: not DER (X.690) with definite lengths, or too many elements to be what is looked for. */
function elementsOf(bytes: Uint8Array): readonly Element[] | undefined {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at]!;
    let length = bytes[at + 1] ?? -1;
    let content = at + 2;
    if (length > 0x80 && length <= 0x84) {
      const octets = length - 0x80;
      length = 0;
      for (let i = 0; i < octets; i++) length = length * 256 + (bytes[content + i] ?? 0);
      content += octets;
    } else if (length < 0 || length >= 0x80) return undefined;
    const end = content + length;
    if (end > bytes.length) return undefined;
    if (found.length === ELEMENTS_MAX) return undefined;
    found.push({ tag, raw: bytes.subarray(at, end), content: bytes.subarray(content, end) });
    at = end;
  }
  return found;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
}
