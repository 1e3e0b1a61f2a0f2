// Tags, lengths and strings of the protobuf wire format, to assemble responses from resources that are already encoded.

const WIRE_LENGTH_DELIMITED = 2;
/** Parts from this size on stay as they are; smaller ones are joined, because each part costs time on every stream. */
const OWN_PART_BYTES = 16 * 1024;

/** No message of protobuf may have more (https://protobuf.dev/programming-guides/proto-limits/). */
export const MESSAGE_BYTES_MAX = 2 ** 31 - 1;

/** `bytes` as the value of a length-delimited field: tag, length, bytes. */
export function framed(fieldNumber: number, bytes: Uint8Array): Buffer {
  const head = header(fieldNumber, bytes.length);
  const out = Buffer.allocUnsafe(head.length + bytes.length);
  out.set(head, 0);
  out.set(bytes, head.length);
  return out;
}

/** A string field; empty text gives no bytes, as protobuf omits the default of fields without presence. */
export function framedString(fieldNumber: number, text: string): Buffer {
  if (text === '') return Buffer.alloc(0);
  const length = Buffer.byteLength(text);
  const head = header(fieldNumber, length);
  const out = Buffer.allocUnsafe(head.length + length);
  out.set(head, 0);
  out.write(text, head.length);
  return out;
}

/** The values of a repeated string field, in order, in one piece; an empty text is a value too. */
export function framedStrings(fieldNumber: number, texts: readonly string[]): Buffer {
  const lengths = texts.map(text => Buffer.byteLength(text));
  const heads = lengths.map(length => header(fieldNumber, length));
  const out = Buffer.allocUnsafe(lengths.reduce((sum, length, i) => sum + heads[i]!.length + length, 0));
  let at = 0;
  for (const [i, text] of texts.entries()) {
    out.set(heads[i]!, at);
    at += heads[i]!.length;
    at += out.write(text, at);
  }
  return out;
}

/** Tag and length of a length-delimited field. */
export function header(fieldNumber: number, length: number): readonly number[] {
  return [...varint(((fieldNumber << 3) | WIRE_LENGTH_DELIMITED) >>> 0), ...varint(length)];
}

export function joinSmallParts(parts: readonly Buffer[]): readonly Buffer[] {
  const out: Buffer[] = [];
  let small: Buffer[] = [];
  const close = (): void => {
    if (small.length > 0) out.push(Buffer.concat(small));
    small = [];
  };
  for (const part of parts) {
    if (part.length < OWN_PART_BYTES) small.push(part);
    else {
      close();
      out.push(part);
    }
  }
  close();
  return out;
}

export function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return bytes;
}
