// What bytes of JSON text are, as they come: inside a string, or a mark of the structure around strings. Not a parser:
// what is no JSON is refused by JSON.parse.

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

export const [OPENS, CLOSES, SEPARATES] = [1, 2, 3];
/** By byte outside strings: 0 for what is no mark. */
export const MARKS = new Uint8Array(256);
for (const mark of '[{') MARKS[mark.charCodeAt(0)] = OPENS;
for (const mark of ']}') MARKS[mark.charCodeAt(0)] = CLOSES;
for (const mark of ',:') MARKS[mark.charCodeAt(0)] = SEPARATES;
const STRING = 4;
MARKS[QUOTE] = STRING;

/** Goes from mark to mark. A text may come in any number of chunks. */
export class JsonBytes {
  #inString = false;
  #isEscaped = false;

  /** Index of the next mark at or after `from`; the length of the chunk if it has none. */
  nextMark(chunk: Uint8Array, from: number): number {
    let at = this.#inString ? this.#afterString(chunk, from) : from;
    while (at < chunk.length) {
      const mark = MARKS[chunk[at]!]!;
      if (mark === 0) at++;
      else if (mark === STRING) {
        this.#inString = true;
        at = this.#afterString(chunk, at + 1);
      } else return at;
    }
    return chunk.length;
  }

  #afterString(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (chunk[at] === BACKSLASH) this.#isEscaped = true;
      else if (chunk[at] === QUOTE) {
        this.#inString = false;
        return at + 1;
      }
    }
    return chunk.length;
  }
}
