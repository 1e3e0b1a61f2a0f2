// Reads messages in which every field is a string, without reflection. Most requests are ACKs, which are two strings,
// and the general decoder takes ten times as long for them.
//
// Invariant: anything else (another wire type, a tag of two bytes, a length past the end, invalid UTF-8) makes
// `eachText` return false, and the caller uses the general decoder, which accepts the message or reports its problem.

const WIRE_LENGTH_DELIMITED = 2;
/** Longest length that is read here, in bytes: texts of up to 256 MiB. */
const LENGTH_BYTES_MAX = 4;
/** What decoding puts in place of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/**
 * Calls `field` with number and text of each field, in order. False: a field is not a plain string, or `field` returned
 * false for it.
 */
export function eachText(message: Uint8Array, field: (number: number, text: string) => boolean): boolean {
  return eachPart(message, (number, bytes, start, end) => {
    const text = textAt(bytes, start, end);
    return text !== undefined && field(number, text);
  });
}

/**
 * Calls `field` with number and place of each field, in order. False: a field is not a string or a message, or `field`
 * returned false for it.
 */
export function eachPart(
  message: Uint8Array,
  field: (number: number, bytes: Buffer, start: number, end: number) => boolean,
): boolean {
  const bytes = Buffer.isBuffer(message)
    ? message
    : Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at++]!;
    if (tag > 0x7f || (tag & 7) !== WIRE_LENGTH_DELIMITED) return false;
    let length = 0;
    for (let i = 0; ; i++) {
      const part = bytes[at++];
      if (part === undefined || i === LENGTH_BYTES_MAX) return false;
      length |= (part & 0x7f) << (7 * i);
      if (part <= 0x7f) break;
    }
    const end = at + length;
    if (end > bytes.length || !field(tag >> 3, bytes, at, end)) return false;
    at = end;
  }
  return true;
}

/** Undefined: it is not UTF-8. */
export function textAt(bytes: Buffer, start: number, end: number): string | undefined {
  const text = start === end ? '' : bytes.toString('utf8', start, end);
  return text.includes(REPLACEMENT) ? undefined : text;
}
