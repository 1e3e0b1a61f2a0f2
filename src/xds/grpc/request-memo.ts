// Requests that many clients send byte for byte, read once: the proxies of a namespace subscribe to the same thousand names. A large request
// without a node is compared with those of its length before it is decoded, and equal ones give the identical message, so that what follows
// from its names is shared as well (session/name-sets.ts).

/** Below this a request is decoded: comparing would not be cheaper, and most small ones carry a nonce of their own. */
export const REMEMBERED_BYTES_MIN = 1_024;
/** Bytes of requests that are remembered; past that the one not seen for longest goes. */
export const REMEMBERED_BYTES_MAX = 4 * 1024 * 1024;

interface Known<M> {
  readonly bytes: Buffer;
  readonly message: M;
}

export class RequestMemo<M> {
  readonly #decode: (bytes: Buffer) => M;
  /** What may be given to others: nothing that is said of one client. */
  readonly #shareable: (message: M) => boolean;
  readonly #bytesMax: number;
  /** Digest-free: by length, then by content; in the order in which they were last seen. */
  readonly #known = new Map<number, readonly Known<M>[]>();
  #bytes = 0;
  hits = 0;

  constructor(decode: (bytes: Buffer) => M, shareable: (message: M) => boolean, bytesMax = REMEMBERED_BYTES_MAX) {
    this.#decode = decode;
    this.#shareable = shareable;
    this.#bytesMax = bytesMax;
  }

  /** Bytes remembered. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws what decoding throws. The message must not be changed. */
  read(bytes: Buffer): M {
    if (bytes.length < REMEMBERED_BYTES_MIN || bytes.length > this.#bytesMax) return this.#decode(bytes);
    const alike = this.#known.get(bytes.length) ?? [];
    const known = alike.find(one => one.bytes.equals(bytes));
    if (known !== undefined) {
      this.hits++;
      this.#known.delete(bytes.length);
      this.#known.set(bytes.length, alike);
      return known.message;
    }
    const message = this.#decode(bytes);
    if (this.#shareable(message)) this.#remember(bytes, message, alike);
    return message;
  }

  #remember(bytes: Buffer, message: M, alike: readonly Known<M>[]): void {
    this.#known.delete(bytes.length);
    this.#known.set(bytes.length, [...alike, { bytes: Buffer.from(bytes), message }]);
    this.#bytes += bytes.length;
    while (this.#bytes > this.#bytesMax) {
      const [length, [, ...newer]] = this.#known.entries().next().value as [number, readonly Known<M>[]];
      this.#bytes -= length;
      if (newer.length === 0) this.#known.delete(length);
      else this.#known.set(length, newer);
    }
  }
}
