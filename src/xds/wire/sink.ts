// Bytes while they are written: one growing buffer in which the length of what is inside something else is filled in when it is known.
//
// Why not protobufjs's writer: it makes a writer a message, and messages within an Any have to be encoded before they can be written. Here
// whoever writes in the middle of another write goes on behind it and takes away what is his. The bytes are those that protobufjs writes.

const START_BYTES = 1 << 16;
/** Shorter texts are copied character by character: handing one to the buffer costs about as much. */
const SHORT_TEXT = 48;
const BYTES_PER_CHARACTER_MAX = 3;
const LOW_BITS = 0x7f;
const MORE = 0x80;
/** Varints of 64 bits have ten bytes at the most. */
const VARINT_BYTES_MAX = 10;
const UINT32_MAX = 2 ** 32 - 1;

/** Where something was written, for as long as the round lasts. */
export interface Mark {
  readonly value: unknown;
  start: number;
  end: number;
  readonly round: number;
}

export class Sink {
  #bytes = Buffer.allocUnsafeSlow(START_BYTES);
  at = 0;
  /** What is written from nothing until it is taken away is a round. */
  round = 0;
  /** Of this round, in the order in which they end. */
  readonly #marks: Mark[] = [];

  /** Runs `write` and gives what it wrote, as bytes of their own. Whatever happens, nothing of it stays here. */
  written(write: () => void): Buffer {
    const start = this.at;
    if (start === 0) {
      this.round++;
      this.#marks.length = 0;
    }
    try {
      write();
      return this.copy(start);
    } finally {
      this.at = start;
    }
  }

  /** What was written since `start`. */
  copy(start: number): Buffer {
    const out = Buffer.allocUnsafe(this.at - start);
    this.#bytes.copy(out, 0, start, this.at);
    return out;
  }

  /** A non-negative integer below 2^32. */
  varint(value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    const bytes = this.#bytes;
    let { at } = this;
    let rest = value;
    while (rest > LOW_BITS) {
      bytes[at++] = (rest & LOW_BITS) | MORE;
      rest >>>= 7;
    }
    bytes[at] = rest;
    this.at = at + 1;
  }

  /** A non-negative integer up to 2^53. */
  varint53(value: number): void {
    if (value <= UINT32_MAX) {
      this.varint(value);
      return;
    }
    this.#reserve(VARINT_BYTES_MAX);
    let rest = value;
    while (rest > LOW_BITS) {
      this.#bytes[this.at++] = (rest % MORE) | MORE;
      rest = Math.floor(rest / MORE);
    }
    this.#bytes[this.at++] = rest;
  }

  /** Negative ones are sign-extended to 64 bits, as protobuf has it. */
  int32(value: number): void {
    if (value >= 0) {
      this.varint(value);
      return;
    }
    this.#reserve(VARINT_BYTES_MAX);
    const bytes = this.#bytes;
    let rest = value;
    for (let i = 1; i < VARINT_BYTES_MAX; i++) {
      bytes[this.at++] = (rest & LOW_BITS) | MORE;
      rest >>= 7;
    }
    bytes[this.at++] = 1;
  }

  double(value: number): void {
    this.#reserve(Float64Array.BYTES_PER_ELEMENT);
    this.at = this.#bytes.writeDoubleLE(value, this.at);
  }

  /** As they are, without their length. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** What was written since `start` is `value`. */
  mark(value: unknown, start: number): Mark {
    const mark: Mark = { value, start, end: this.at, round: this.round };
    this.#marks.push(mark);
    return mark;
  }

  /** What was marked in this round, once more. */
  again({ start, end }: Mark): void {
    this.#reserve(end - start);
    this.#bytes.copyWithin(this.at, start, end);
    this.at += end - start;
  }

  /** With the length before it. */
  text(text: string): void {
    const { length } = text;
    this.#reserve(length * BYTES_PER_CHARACTER_MAX + VARINT_BYTES_MAX);
    const width = length > LOW_BITS ? 2 : 1;
    const start = this.open(width);
    if (length > SHORT_TEXT || !this.#ascii(text)) this.at += this.#bytes.write(text, this.at);
    this.close(start, width);
  }

  /**
   * What is written from here on has its length before it: the result is for `close`. `width`: the bytes that the length is expected to take; a wrong
   * guess costs a copy of what was written.
   */
  open(width: number): number {
    this.#reserve(width);
    this.at += width;
    return this.at;
  }

  /** `width` as given to `open`. Returns what it should have been: mostly the best guess for the next time. */
  close(start: number, width: number): number {
    const length = this.at - start;
    const taken = length <= LOW_BITS ? 1 : widthOf(length);
    if (taken !== width) {
      this.#reserve(taken);
      this.#bytes.copyWithin(start - width + taken, start, this.at);
      this.at += taken - width;
      this.#shiftMarks(start, taken - width);
    }
    const bytes = this.#bytes;
    let at = start - width;
    let rest = length;
    while (rest > LOW_BITS) {
      bytes[at++] = (rest & LOW_BITS) | MORE;
      rest >>>= 7;
    }
    bytes[at] = rest;
    return taken;
  }

  /** What was marked from `start` on has moved. */
  #shiftMarks(start: number, by: number): void {
    for (let i = this.#marks.length - 1; i >= 0; i--) {
      const mark = this.#marks[i]!;
      if (mark.end <= start) return;
      mark.start += by;
      mark.end += by;
    }
  }

  /** False, with nothing written, if a character needs more than one byte. There is room. */
  #ascii(text: string): boolean {
    const bytes = this.#bytes;
    let { at } = this;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > LOW_BITS) return false;
      bytes[at++] = code;
    }
    this.at = at;
    return true;
  }

  #reserve(count: number): void {
    const needed = this.at + count;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.at);
    this.#bytes = grown;
  }
}

/** Bytes of a length as a varint. */
function widthOf(length: number): number {
  let width = 1;
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) width++;
  return width;
}
