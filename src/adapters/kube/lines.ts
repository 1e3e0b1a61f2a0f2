// Splits chunks of bytes into lines, within a limit.

const NEWLINE = 0x0a;

export class Lines {
  readonly #bytesMax: number;
  #rest: Buffer[] = [];
  #restBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The non-empty lines that the chunk completes; undefined if one exceeds the limit. */
  push(chunk: Buffer): readonly string[] | undefined {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      if (this.#restBytes + end - start > this.#bytesMax) return undefined;
      const line = this.#take(chunk.subarray(start, end));
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    if (rest.length > 0) this.#rest.push(rest);
    this.#restBytes += rest.length;
    return this.#restBytes > this.#bytesMax ? undefined : lines;
  }

  #take(end: Buffer): string {
    const line = this.#rest.length === 0 ? end : Buffer.concat([...this.#rest, end]);
    this.#rest = [];
    this.#restBytes = 0;
    return line.toString('utf8').trim();
  }
}
