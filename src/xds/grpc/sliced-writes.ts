// Messages to one HTTP/2 stream over TLS, in slices. Node encrypts what HTTP/2 hands over at once into one buffer of
// its size, and keeps that buffer as long as the connection lives (NodeBIO in crypto_bio.cc): with whole responses of
// 1.2 MB it is 1 MB for each proxy. A slice is handed over when the one before it is taken.
//
// Invariant: the bytes of the messages leave in the order of `add`, none twice; the callback of a message is called
// once, after its last slice or with the stream's error. Other writers call `flush` first.

export type Done = (error?: Error | null) => void;

/** A writable stream that takes several pieces at once. */
export interface CorkedStream {
  write(bytes: Uint8Array, done?: Done): boolean;
  cork(): void;
  uncork(): void;
  readonly writable: boolean;
}

/** More than a TLS record (16 KiB), so that a slice costs little beside its bytes. */
export const SLICE_BYTES = 64 * 1024;

interface Message {
  readonly pieces: readonly Buffer[];
  readonly done: Done;
}

export class SlicedWrites {
  readonly #stream: CorkedStream;
  readonly #messages: Message[] = [];
  /** Of the first message: the piece that comes next, and what of it is written. */
  #piece = 0;
  #offset = 0;
  #isWriting = false;

  constructor(stream: CorkedStream) {
    this.#stream = stream;
  }

  /** A message is not wholly handed over. */
  get isBusy(): boolean {
    return this.#messages.length > 0;
  }

  add(pieces: readonly Buffer[], done: Done): void {
    this.#messages.push({ pieces, done });
    if (!this.#isWriting) this.#writeSlice(SLICE_BYTES);
  }

  /** Hands over all that is left, at once. */
  flush(): void {
    while (this.isBusy && this.#stream.writable) this.#writeSlice(Number.POSITIVE_INFINITY);
  }

  #writeSlice(bytesMax: number): void {
    const message = this.#messages[0];
    if (message === undefined) return;
    const slice = this.#take(message.pieces, bytesMax);
    const isLast = this.#piece === message.pieces.length;
    if (isLast) {
      this.#messages.shift();
      this.#piece = 0;
    }
    this.#isWriting = true;
    const taken = (error?: Error | null): void => {
      this.#isWriting = false;
      if (isLast) message.done(error);
      if (error !== undefined && error !== null) this.#fail(error);
      else if (!this.#isWriting) this.#writeSlice(SLICE_BYTES);
    };
    this.#stream.cork();
    for (const piece of slice.slice(0, -1)) this.#stream.write(piece);
    this.#stream.write(slice.at(-1) ?? Buffer.alloc(0), taken);
    this.#stream.uncork();
  }

  /** The next bytes of the first message, without a copy. */
  #take(pieces: readonly Buffer[], bytesMax: number): readonly Buffer[] {
    const slice: Buffer[] = [];
    for (let left = bytesMax; left > 0; ) {
      const piece = pieces[this.#piece];
      if (piece === undefined) break;
      const part = piece.subarray(this.#offset, Math.min(piece.length, this.#offset + left));
      if (part.length > 0) slice.push(part);
      left -= part.length;
      this.#offset += part.length;
      if (this.#offset < piece.length) break;
      this.#piece++;
      this.#offset = 0;
    }
    return slice;
  }

  /** The stream is lost: no message that waits is sent. */
  #fail(error: Error): void {
    const waiting = this.#messages.splice(0);
    this.#piece = 0;
    this.#offset = 0;
    for (const { done } of waiting) done(error);
  }
}
