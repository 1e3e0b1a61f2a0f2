// What a body costs to parse and to work on, seen from its bytes while they come: how deep it is nested, and how many
// values it has. Both are looked at before JSON.parse, which takes a second for five megabytes of brackets.
//
// Not a parser: it knows strings, brackets, commas and colons. What is no JSON is refused later.

/** As objects (core/base/json.ts); the review around them is two levels. */
export const REVIEW_DEPTH_MAX = 102;
/** Brackets, commas and colons outside strings, of a review on the event loop. A pod of 1,000 containers has 20,000. */
export const REVIEW_MARKS_MAX = 100_000;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** What a byte outside strings is: 0 nothing to count, 1 a comma or colon, 2 opens, 3 closes, 4 begins a string. */
const KINDS = new Uint8Array(256);
for (const mark of ',:') KINDS[mark.charCodeAt(0)] = 1;
for (const mark of '[{') KINDS[mark.charCodeAt(0)] = 2;
for (const mark of ']}') KINDS[mark.charCodeAt(0)] = 3;
KINDS[QUOTE] = 4;

export class ReviewShape {
  readonly #marksMax: number;
  #inString = false;
  #isEscaped = false;
  #depth = 0;
  #marks = 0;

  constructor(marksMax: number = REVIEW_MARKS_MAX) {
    this.#marksMax = marksMax;
  }

  /** Of all bytes so far. */
  get marks(): number {
    return this.#marks;
  }

  /** The next bytes. Why the body is refused; undefined: so far it is fine. */
  add(bytes: Uint8Array): string | undefined {
    for (let at = 0; at < bytes.length; ) {
      at = this.#inString ? this.#afterString(bytes, at) : this.#untilString(bytes, at);
      if (this.#depth > REVIEW_DEPTH_MAX) return `the review is nested more than ${REVIEW_DEPTH_MAX} levels deep`;
      if (this.#marks > this.#marksMax) {
        return `the review has more than ${this.#marksMax} brackets, commas and colons`;
      }
    }
    return undefined;
  }

  #afterString(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (bytes[at] === BACKSLASH) this.#isEscaped = true;
      else if (bytes[at] === QUOTE) {
        this.#inString = false;
        return at + 1;
      }
    }
    return bytes.length;
  }

  /** As far as the next string, or to where a limit is passed. */
  #untilString(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const kind = KINDS[bytes[at]!];
      if (kind === 0) continue;
      if (kind === 4) {
        this.#inString = true;
        return at + 1;
      }
      if (kind === 3) this.#depth--;
      else this.#marks++;
      if (kind === 2) this.#depth++;
      if (this.#depth > REVIEW_DEPTH_MAX || this.#marks > this.#marksMax) return at + 1;
    }
    return bytes.length;
  }
}
