// What a body costs to parse and to work on, seen from its bytes while they come: how deep it is nested, and how many
// values it has. Both are looked at before JSON.parse, which takes a second for five megabytes of brackets.

import { CLOSES, JsonBytes, MARKS, OPENS } from '../../core/base/json-bytes.ts';

/** As objects (core/base/json.ts); the review around them is two levels. */
export const REVIEW_DEPTH_MAX = 102;
/** Brackets, commas and colons outside strings, of a review on the event loop. A pod of 1,000 containers has 20,000. */
export const REVIEW_MARKS_MAX = 100_000;

export class ReviewShape {
  readonly #marksMax: number;
  readonly #bytes = new JsonBytes();
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
    for (let at = this.#bytes.nextMark(bytes, 0); at < bytes.length; at = this.#bytes.nextMark(bytes, at + 1)) {
      const mark = MARKS[bytes[at]!]!;
      if (mark === CLOSES) this.#depth--;
      else this.#marks++;
      if (mark === OPENS) this.#depth++;
      if (this.#depth > REVIEW_DEPTH_MAX) return `the review is nested more than ${REVIEW_DEPTH_MAX} levels deep`;
      if (this.#marks > this.#marksMax) {
        return `the review has more than ${this.#marksMax} brackets, commas and colons`;
      }
    }
    return undefined;
  }
}
