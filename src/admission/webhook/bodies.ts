// The bodies of requests under way, all together within a limit: past it the largest is cut off, so that a client of
// many large ones loses its own, and a review of usual size is never the one.

export const BODIES_BYTES_MAX = 64 * 1024 * 1024;

export interface Body {
  bytes: number;
  /** Ends its request. */
  readonly cut: () => void;
}

export class Bodies {
  readonly #bytesMax: number;
  readonly #open = new Set<Body>();
  #bytes = 0;

  constructor(bytesMax: number = BODIES_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  open(cut: () => void): Body {
    const body = { bytes: 0, cut };
    this.#open.add(body);
    return body;
  }

  grow(body: Body, bytes: number): void {
    if (!this.#open.has(body)) return;
    body.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax) {
      const largest = [...this.#open].reduce((most, one) => (one.bytes > most.bytes ? one : most));
      this.close(largest);
      largest.cut();
    }
  }

  /** Idempotent. */
  close(body: Body): void {
    if (this.#open.delete(body)) this.#bytes -= body.bytes;
  }
}
