// The output buffer of the encoder: one growing buffer, reused for every resource.
// Nested messages in one pass. A length-delimited field is written as: gap for the length, content, then the length is
// filled in (`openFrame`, `closeFrame`). The gap has the size that the length of the same field had last time; only if
// it differs, the content moves. protobufjs's writer instead builds a linked list for each message, and needs the
// content of an Any encoded before it is written.
// `written` may run inside another `written`: the inner one writes behind the outer one's bytes, takes its own, and
// removes them. A span that was marked inside the inner one is void from then on, though its pass goes on.
//
// `attempt` gives up what would take too many bytes, for callers that can then write it in fragments (fragments.ts).
//
// Invariants: outside of `written` the buffer is empty (`at` is 0), and what `collect` returns is a copy. A position
// holds until a frame around it is closed, which may move the bytes. A span holds within the pass in which it was made,
// and moves with its bytes; spans are marked in the order of their ends. `#reserve` comes before each write and may
// replace `#bytes`. The bytes of well-formed texts equal those that protobufjs writes (test/property/encode.test.ts).

/** Nesting of messages; as in protobufjs. */
export const DEPTH_MAX = 100;
export const TOO_DEEP = 'messages are nested too deeply';

const INITIAL_BYTES = 1 << 16;
/** A buffer that a text has made larger than this is not kept. */
const KEPT_BYTES_MAX = 1 << 22;
/**
 * Shorter ASCII texts are copied character by character: a call of Buffer.write costs about as much as this many copies
 * (measured).
 */
const SHORT_TEXT = 48;
const BYTES_PER_CHARACTER_MAX = 3;
const LOW_BITS = 0x7f;
const MORE = 0x80;
/** A varint of 64 bits has at most ten bytes. */
const VARINT_BYTES_MAX = 10;
const UINT32_MAX = 2 ** 32 - 1;

/** Bytes that are written in the time that an entry of a map takes beside its own bytes */
const BYTES_PER_ENTRY = 16;

/** Thrown when a write needs more room than `attempt` allows. Not an Error: it is control flow. */
const NO_ROOM = { noRoom: true } as const;

/** The bytes `start` to `end` of the buffer are the encoding of `value`. Valid during one pass. */
export interface WrittenSpan {
  readonly value: unknown;
  start: number;
  end: number;
  readonly pass: number;
}

export class Sink {
  #bytes: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  /** Position of the next byte. */
  at = 0;
  /** Nesting of the message that is being written. */
  depth = 0;
  /**
   * Counts the calls of `written` that begin with an empty buffer, and attempts that failed. Spans hold within one such
   * pass only.
   */
  pass = 0;
  /** Where `#reserve` has something to do: the end of the buffer, or what `attempt` allows. */
  #room = INITIAL_BYTES;
  #roomMax = Number.POSITIVE_INFINITY;
  /** The spans of this pass, in the order of their ends. */
  readonly #spans: WrittenSpan[] = [];

  /**
   * Runs `write`, then `take` with the bytes that it wrote, which are overwritten afterwards. Restores `at` and
   * `depth`, also if one of them throws. May be nested.
   */
  written<T>(write: () => void, take: (bytes: Buffer) => T): T {
    const { at: start, depth } = this;
    if (start === 0) this.#beginPass();
    try {
      write();
      return take(this.#bytes.subarray(start, this.at));
    } finally {
      this.at = start;
      this.depth = depth;
      if (start === 0 && this.#bytes.length > KEPT_BYTES_MAX) this.#replace(Buffer.allocUnsafeSlow(INITIAL_BYTES));
    }
  }

  /**
   * Runs `write`, within `written`; false, with nothing written, if it needs room for more than `bytesMax`. May not be
   * nested.
   */
  attempt(bytesMax: number, write: () => void): boolean {
    const { at: start, depth } = this;
    this.#allow(start + bytesMax);
    try {
      write();
      return true;
    } catch (error) {
      if (error !== NO_ROOM) throw error;
      this.at = start;
      this.depth = depth;
      this.#beginPass();
      return false;
    } finally {
      this.#allow(Number.POSITIVE_INFINITY);
    }
  }

  /** As `written`, with a copy of the bytes as its result. */
  collect(write: () => void): Buffer {
    const start = this.at;
    return this.written(write, () => this.copy(start));
  }

  /** Takes what writing entries of a map costs, beside their bytes, from what `attempt` allows. */
  charge(entries: number): void {
    this.#allow(this.#roomMax - entries * BYTES_PER_ENTRY);
    if (this.at > this.#roomMax) throw NO_ROOM;
  }

  /** A copy of the bytes from `start` to `at`. */
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

  /** Negative values are sign-extended to 64 bits, as protobuf does. */
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

  /** The bytes without a length before them. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Remembers that the bytes from `start` to `at` are the encoding of `value`. */
  markSpan(value: unknown, start: number): WrittenSpan {
    const span: WrittenSpan = { value, start, end: this.at, pass: this.pass };
    this.#spans.push(span);
    return span;
  }

  /** Writes the bytes of a span of this pass again, without encoding. */
  copySpan({ start, end }: WrittenSpan): void {
    this.#reserve(end - start);
    this.#bytes.copyWithin(this.at, start, end);
    this.at += end - start;
  }

  /** UTF-8, with the length before it. */
  text(text: string): void {
    const { length } = text;
    this.#reserve(length * BYTES_PER_CHARACTER_MAX + VARINT_BYTES_MAX);
    const width = length > LOW_BITS ? 2 : 1;
    const start = this.openFrame(width);
    if (length > SHORT_TEXT || !this.#ascii(text)) this.at += this.#bytes.write(text, this.at);
    this.closeFrame(start, width);
  }

  /**
   * Begins bytes that have their length before them, and returns their start for `closeFrame`. `width`: the expected
   * size of the length; a wrong guess costs a move of the bytes when the frame is closed.
   */
  openFrame(width: number): number {
    this.#reserve(width);
    this.at += width;
    return this.at;
  }

  /**
   * Fills in the length. `width`: as given to `openFrame`. Returns the actual size of the length, the best guess for
   * the next such frame.
   */
  closeFrame(start: number, width: number): number {
    const length = this.at - start;
    const taken = length <= LOW_BITS ? 1 : widthOf(length);
    if (taken !== width) {
      this.#reserve(taken);
      this.#bytes.copyWithin(start - width + taken, start, this.at);
      this.at += taken - width;
      this.#shiftSpans(start, taken - width);
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

  /** The bytes from `start` on have moved: so do the spans in them. */
  #shiftSpans(start: number, by: number): void {
    for (let i = this.#spans.length - 1; i >= 0; i--) {
      const span = this.#spans[i]!;
      if (span.end <= start) return;
      span.start += by;
      span.end += by;
    }
  }

  /** Writes ASCII text; false, with nothing written, if a character is not ASCII. The caller has reserved the room. */
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
    if (needed <= this.#room) return;
    if (needed > this.#roomMax) throw NO_ROOM;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.at);
    this.#replace(grown);
  }

  #replace(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#allow(this.#roomMax);
  }

  /** Positions up to `roomMax` may be written. */
  #allow(roomMax: number): void {
    this.#roomMax = roomMax;
    this.#room = Math.min(this.#bytes.length, roomMax);
  }

  #beginPass(): void {
    this.pass++;
    this.#spans.length = 0;
  }
}

/** Size of a length as a varint. */
function widthOf(length: number): number {
  let width = 1;
  for (let rest = length >>> 7; rest > 0; rest >>>= 7) width++;
  return width;
}
