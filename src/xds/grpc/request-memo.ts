// Decodes large requests that many clients send byte for byte once: the proxies of a namespace subscribe to the same
// thousand names. Equal bytes give the identical message, so that everything memoised by the identity of its names is
// shared as well (session/name-sets.ts).

/** Smaller requests are always decoded: comparing would not be cheaper, and most carry a nonce of their own. */
export const REMEMBERED_BYTES_MIN = 1_024;
/** Limit of the memo, in bytes of requests; past it the least recently seen one is dropped. */
export const REMEMBERED_BYTES_MAX = 4 * 1024 * 1024;

interface Known<M> {
  readonly bytes: Buffer;
  readonly message: M;
}

export class RequestMemo<M> {
  readonly #decode: (bytes: Buffer) => M;
  /** False for messages with data of one client (a node): these are not shared. */
  readonly #shareable: (message: M) => boolean;
  readonly #bytesMax: number;
  /** Length → requests of that length; least recently seen first. No digests: comparing bytes is cheaper. */
  readonly #known = new Map<number, readonly Known<M>[]>();
  #bytes = 0;
  hits = 0;

  constructor(decode: (bytes: Buffer) => M, shareable: (message: M) => boolean, bytesMax = REMEMBERED_BYTES_MAX) {
    this.#decode = decode;
    this.#shareable = shareable;
    this.#bytesMax = bytesMax;
  }

  /** Bytes in the memo. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws what `decode` throws. The message is shared and must not be changed. */
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
