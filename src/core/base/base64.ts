// Text to its UTF-8 bytes and their base64, and back to bytes, with nothing but the language: the pure core has neither
// Buffer nor TextEncoder.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const REPLACEMENT = 0xfffd;
/** By code of a character. */
const NO_VALUE = 0xff;
const VALUES = new Uint8Array(128).fill(NO_VALUE);
for (let i = 0; i < ALPHABET.length; i++) VALUES[ALPHABET.charCodeAt(i)] = i;

export function base64OfText(text: string): string {
  const bytes = utf8(text);
  const codes: number[] = [];
  let out = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const b = bytes[i + 1];
    const c = bytes[i + 2];
    const bits = (bytes[i]! << 16) | ((b ?? 0) << 8) | (c ?? 0);
    codes.push(digit(bits >> 18), digit(bits >> 12), b === undefined ? PADDING : digit(bits >> 6));
    codes.push(c === undefined ? PADDING : digit(bits));
    if (codes.length < CODES_AT_ONCE) continue;
    out += String.fromCharCode(...codes);
    codes.length = 0;
  }
  return out + String.fromCharCode(...codes);
}

const PADDING = 0x3d;
/** A call takes no more arguments than the stack has room for. */
const CODES_AT_ONCE = 4_096;

function digit(bits: number): number {
  return ALPHABET.charCodeAt(bits & 63);
}

/** A lone surrogate becomes U+FFFD, as in every encoder. */
export function utf8(text: string): readonly number[] {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Not codePointAt: once compiled, that of Node 24.21 reads behind the end of a text that was cut within a pair.
    const low = unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length ? text.charCodeAt(i + 1) : 0;
    const isPair = low >= 0xdc00 && low <= 0xdfff;
    if (isPair) i++;
    const point = isPair ? 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff) : unit;
    const code = point >= 0xd800 && point <= 0xdfff ? REPLACEMENT : point;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), tail(code));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), tail(code >> 6), tail(code));
    else bytes.push(0xf0 | (code >> 18), tail(code >> 12), tail(code >> 6), tail(code));
  }
  return bytes;
}

function tail(code: number): number {
  return 0x80 | (code & 63);
}

/** The bytes of padded standard base64; characters outside the alphabet are passed over. */
export function bytesOfBase64(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let length = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < text.length; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? NO_VALUE;
    if (value === NO_VALUE) continue;
    bits = ((bits << 6) | value) & 0xfff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[length++] = (bits >> held) & 0xff;
  }
  return bytes.slice(0, length);
}

/** The text whose UTF-8 is this base64. */
export function textOfBase64(base64: string): string {
  return textOfUtf8(bytesOfBase64(base64));
}

/** Octets that are no UTF-8 become U+FFFD each. */
export function textOfUtf8(bytes: ArrayLike<number> & Iterable<number>): string {
  const octets = Uint8Array.from(bytes);
  let text = '';
  for (let i = 0; i < octets.length; ) {
    const first = octets[i]!;
    const more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    const tailing = [...octets.slice(i + 1, i + 1 + more)];
    const whole = tailing.length === more && tailing.every(octet => octet >> 6 === 2);
    const point = tailing.reduce((bits, octet) => (bits << 6) | (octet & 63), first & LEADING_BITS[more]!);
    const isSound = whole && point >= SMALLEST[more]! && point <= 0x10ffff && point >> 11 !== 27;
    text += String.fromCodePoint(isSound ? point : REPLACEMENT);
    i += isSound ? more + 1 : 1;
  }
  return text;
}

/** By the number of octets that follow the first one: the bits that it carries, and the smallest point so written. */
const LEADING_BITS: readonly number[] = [0x7f, 0x1f, 0x0f, 0x07];
const SMALLEST: readonly number[] = [0, 0x80, 0x800, 0x10000];
