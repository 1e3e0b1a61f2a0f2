// Texts by number: an index of a million events names each of them by a few bytes.
//
// Invariant: a number names one text for ever; 0 is the empty text. Beyond `max` texts all further ones are the one
// called `OTHERS`, so memory stays bounded whatever a journal holds.

export const OTHERS = '(others)';

export class Interned {
  readonly #numbers = new Map<string, number>([['', 0]]);
  readonly #texts: string[] = [''];
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#texts.length;
  }

  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (this.#texts.length >= this.#max) return this.#texts.length;
    this.#texts.push(text);
    this.#numbers.set(text, this.#texts.length - 1);
    return this.#texts.length - 1;
  }

  textOf(number: number): string {
    return this.#texts[number] ?? OTHERS;
  }

  /** Undefined: no event has it. */
  find(text: string): number | undefined {
    return this.#numbers.get(text) ?? (text === OTHERS ? this.#max : undefined);
  }

  /** By number: 1 for the texts that pass. */
  chosen(passes: (text: string) => boolean): Uint8Array {
    const found = new Uint8Array(this.#texts.length + 1);
    for (const [number, text] of this.#texts.entries()) found[number] = passes(text) ? 1 : 0;
    found[this.#texts.length] = passes(OTHERS) ? 1 : 0;
    return found;
  }
}
