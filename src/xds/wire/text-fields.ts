// A message of which every field is a string, read without a description of its type: most of what clients say on a stream is an ACK, two strings,
// and a decoder for any message takes ten times as long over it.
//
// Invariant: whatever is not plainly that (another wire type, a long tag, a length past the end, text that is not valid UTF-8) is left to the decoder
// for any message, which knows what to make of it or what is wrong with it.

const WIRE_LENGTH_DELIMITED = 2;
/** Bytes of a length that are read here: texts of up to 256 MiB. */
const LENGTH_BYTES_MAX = 4;
/** What is put for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** Calls `field` with the number and text of each, in order. False: something is no such field, or `field` said so of one that it does not know. */
export function eachText(message: Uint8Array, field: (number: number, text: string) => boolean): boolean {
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
    if (end > bytes.length) return false;
    const text = length === 0 ? '' : bytes.toString('utf8', at, end);
    if (text.includes(REPLACEMENT) || !field(tag >> 3, text)) return false;
    at = end;
  }
  return true;
}
