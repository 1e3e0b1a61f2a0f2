// Reviews are answered one in a tick of the event loop, by addresses in turn, and after one that took long the loop
// rests as long: hundreds that come at once, or large ones without end, leave half of it to proxies.

/** A review that takes less has no rest after it. */
export const REVIEW_MS_QUICK = 20;
/** A rest takes no longer. */
export const REVIEW_REST_MS_MAX = 1_000;

export class ReviewTurns {
  /** By address; the first has the next turn. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isRunning = false;

  /** Resolves with what `work` returns, or rejects with what it throws. */
  run<T>(address: string, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const others = this.#waiting.get(address) ?? [];
      others.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error as Error);
        }
      });
      this.#waiting.set(address, others);
      if (!this.#isRunning) this.#next(0);
    });
  }

  #next(restMs: number): void {
    this.#isRunning = true;
    if (restMs < REVIEW_MS_QUICK) setImmediate(() => this.#take());
    else setTimeout(() => this.#take(), Math.min(restMs, REVIEW_REST_MS_MAX));
  }

  #take(): void {
    const [next] = this.#waiting;
    this.#isRunning = next !== undefined;
    if (next === undefined) return;
    const [address, [work, ...others]] = next;
    this.#waiting.delete(address);
    if (others.length > 0) this.#waiting.set(address, others);
    const since = performance.now();
    work?.();
    this.#next(performance.now() - since);
  }
}
