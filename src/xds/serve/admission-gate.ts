// The rate limit for new streams (PILOT_MAX_REQUESTS_PER_SECOND). After a quiet time it admits at once as many streams
// as one batch holds; the others wait for the next batch boundary after their turn.
//
// Invariant: over any longer time at most `perSecond` streams a second are admitted, in order of arrival. Unlike
// istiod, which refuses, it makes a stream wait for up to `waitMsMax`: a refused proxy reconnects at once, which costs
// more.

/** Streams that wait are admitted in batches this far apart, so that their generation, facts and commits are shared. */
export const GATE_BATCH_MS = 500;

export class AdmissionGate {
  readonly #spacingMs: number;
  readonly #waitMsMax: number;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, waitMsMax: number) {
    this.#spacingMs = 1_000 / perSecond;
    this.#waitMsMax = waitMsMax;
  }

  /** True if a stream that arrives now has to wait. */
  isBusy(now: number): boolean {
    return this.#nextAt > now;
  }

  /** Milliseconds until the stream is admitted; undefined: it would wait longer than `waitMsMax` and is refused. */
  admit(now: number): number | undefined {
    const at = Math.max(now - GATE_BATCH_MS, this.#nextAt);
    if (at - now > this.#waitMsMax) return undefined;
    this.#nextAt = at + this.#spacingMs;
    return at <= now ? 0 : Math.ceil(at / GATE_BATCH_MS) * GATE_BATCH_MS - now;
  }
}
