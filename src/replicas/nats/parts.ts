// Entries larger than a message of NATS may be: sent as several messages in a row, put together again by every
// follower. Parts that no last part completes (their writer died) are passed over by all followers alike.

/** Room for headers beside the payload. */
export const HEADER_BYTES = 4_096;

export interface Part {
  /** Id of the entry. */
  readonly entry: string;
  /** From 1. */
  readonly number: number;
  readonly of: number;
  readonly bytes: Uint8Array;
}

/** At least one. `bytesMax`: of a payload. */
export function splitEntry(text: string, entry: string, bytesMax: number): readonly Part[] {
  const bytes = Buffer.from(text, 'utf8');
  const of = Math.max(1, Math.ceil(bytes.length / bytesMax));
  return Array.from({ length: of }, (_, i) => ({
    entry,
    number: i + 1,
    of,
    bytes: bytes.subarray(i * bytesMax, (i + 1) * bytesMax),
  }));
}

export class Assembly {
  #parts: Part[] = [];

  /** The text of the entry that this part completes. */
  add(part: Part): string | undefined {
    const before = this.#parts.at(-1);
    const follows = before !== undefined && before.entry === part.entry && before.number + 1 === part.number;
    if (!follows) this.#parts = [];
    if (!follows && part.number !== 1) return undefined;
    this.#parts.push(part);
    if (part.number < part.of) return undefined;
    const text = Buffer.concat(this.#parts.map(({ bytes }) => bytes)).toString('utf8');
    this.#parts = [];
    return text;
  }
}
