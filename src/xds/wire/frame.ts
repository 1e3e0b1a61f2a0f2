// Tags, lengths and strings of the protobuf wire format, to assemble responses from resources that are already encoded.

const WIRE_LENGTH_DELIMITED = 2;

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

/** Tag and length of a length-delimited field. */
export function header(fieldNumber: number, length: number): readonly number[] {
  return [...varint((fieldNumber << 3) | WIRE_LENGTH_DELIMITED), ...varint(length)];
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
