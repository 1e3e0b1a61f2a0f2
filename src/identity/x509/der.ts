// DER (X.690), as much of it as certificates and signing requests need: elements with definite lengths, object
// identifiers, times.
//
// Invariants: reading never looks outside the bytes it was given and throws an Error for anything else than DER with
// tags below 31; what is read and written again is byte-equal. By hand, because a schema library costs more CPU than
// the signature itself (docs/adr/0016).

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Context-specific tags: `[n]` primitive and constructed. */
export const primitive = (n: number): number => 0x80 | n;
export const constructed = (n: number): number => 0xa0 | n;

// --- reading -------------------------------------------------------------------------------------------------------

export interface Element {
  readonly tag: number;
  /** With tag and length. */
  readonly raw: Buffer;
  readonly content: Buffer;
}

const LENGTH_BYTES_MAX = 4;
const LONG_TAG = 0x1f;

/** The one element that `bytes` is. */
export function elementOf(bytes: Uint8Array): Element {
  const all = elementsOf(bytes);
  if (all.length !== 1) throw new Error(`expected one DER element, found ${all.length}`);
  return all[0]!;
}

/** The elements that follow one another until the end of `bytes`. */
export function elementsOf(bytes: Uint8Array): readonly Element[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: Element[] = [];
  let at = 0;
  while (at < buffer.length) {
    const element = elementAt(buffer, at);
    found.push(element);
    at += element.raw.length;
  }
  return found;
}

function elementAt(buffer: Buffer, at: number): Element {
  const tag = byteAt(buffer, at);
  if ((tag & LONG_TAG) === LONG_TAG) throw new Error('DER tags of several bytes are not supported');
  const first = byteAt(buffer, at + 1);
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || lengthBytes > LENGTH_BYTES_MAX) throw new Error('DER length is indefinite or too long');
  let length = lengthBytes === 0 ? first : 0;
  for (let i = 0; i < lengthBytes; i++) length = length * 256 + byteAt(buffer, at + 2 + i);
  if (lengthBytes > 0 && (length < 0x80 || byteAt(buffer, at + 2) === 0)) throw new Error('DER length is not minimal');
  const start = at + 2 + lengthBytes;
  if (start + length > buffer.length) throw new Error('DER element is cut off');
  return { tag, raw: buffer.subarray(at, start + length), content: buffer.subarray(start, start + length) };
}

function byteAt(buffer: Buffer, at: number): number {
  const byte = buffer[at];
  if (byte === undefined) throw new Error('DER element is cut off');
  return byte;
}

/** The elements inside one that has this tag. */
export function inside(element: Element | undefined, tag: number): readonly Element[] {
  return elementsOf(contentOf(element, tag));
}

export function contentOf(element: Element | undefined, tag: number): Buffer {
  if (element === undefined) throw new Error(`expected a DER element with tag ${tag}, found none`);
  if (element.tag !== tag) throw new Error(`expected a DER element with tag ${tag}, found ${element.tag}`);
  return element.content;
}

/** `1.2.840.…` */
export function oidOf(element: Element | undefined): string {
  const parts: number[] = [];
  let value = 0;
  for (const byte of contentOf(element, TAG.oid)) {
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER / 128) throw new Error('object identifier is too large');
    if (byte >= 0x80) continue;
    parts.push(value);
    value = 0;
  }
  const [first = 0, ...rest] = parts;
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - 40 * top, ...rest].join('.');
}

/** The bytes of a BIT STRING that has no unused bits. */
export function bitsOf(element: Element | undefined): Buffer {
  const content = contentOf(element, TAG.bitString);
  if (content[0] !== 0) throw new Error('bit string is not made of whole bytes');
  return content.subarray(1);
}

// --- writing -------------------------------------------------------------------------------------------------------

/** One element: every certificate is made of some forty of these, so it is one allocation each. */
export function write(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const content of contents) length += content.length;
  const lengthBytes = bytesOfLength(length);
  const element = Buffer.allocUnsafe(2 + lengthBytes + length);
  element[0] = tag;
  element[1] = lengthBytes === 0 ? length : 0x80 | lengthBytes;
  if (lengthBytes > 0) element.writeUIntBE(length, 2, lengthBytes);
  let at = 2 + lengthBytes;
  for (const content of contents) {
    element.set(content, at);
    at += content.length;
  }
  return element;
}

/** 0: the length stands in the first byte. */
function bytesOfLength(length: number): number {
  if (length < 0x80) return 0;
  let bytes = 1;
  for (let rest = length; rest > 0xff; rest = Math.floor(rest / 256)) bytes++;
  return bytes;
}

export const sequence = (...contents: readonly Uint8Array[]): Buffer => write(TAG.sequence, ...contents);
export const set = (...contents: readonly Uint8Array[]): Buffer => write(TAG.set, ...contents);
export const octets = (...contents: readonly Uint8Array[]): Buffer => write(TAG.octetString, ...contents);
export const text = (value: string): Buffer => write(TAG.utf8String, Buffer.from(value));
export const bits = (bytes: Uint8Array, unused = 0): Buffer => write(TAG.bitString, Uint8Array.of(unused), bytes);
export const boolean = (value: boolean): Buffer => write(TAG.boolean, Uint8Array.of(value ? 0xff : 0));

/** Of bytes that are a positive number, most significant first, without zeros before it. */
export const integer = (bytes: Uint8Array): Buffer =>
  write(TAG.integer, ...((bytes[0] ?? 0) >= 0x80 ? [Uint8Array.of(0), bytes] : [bytes]));

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return write(TAG.oid, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): readonly number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

const UTC_TIME_END = Date.UTC(2050, 0);

/** UTCTime until 2049 and GeneralizedTime from then on, in whole seconds (RFC 5280 §4.1.2.5). */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return ms < UTC_TIME_END
    ? write(TAG.utcTime, Buffer.from(digits.slice(2)))
    : write(TAG.generalizedTime, Buffer.from(digits));
}
