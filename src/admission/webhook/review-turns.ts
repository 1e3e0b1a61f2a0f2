// Reviews are answered one after another, one in a tick of the event loop, by addresses in turn. After one that took
// long there is a rest as long: hundreds that come at once, or large ones without end, leave half of the time to
// proxies.

/** A review that takes less has no rest after it. */
export const REVIEW_MS_QUICK = 20;
/** A rest takes no longer. */
export const REVIEW_REST_MS_MAX = 1_000;

export class ReviewTurns {
  /** By address; the first has the next turn. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #isRunning = false;

  /** Resolves with what `work` gives, or rejects with what it throws. The next one waits until it is over. */
  run<T>(address: string, work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const others = this.#waiting.get(address) ?? [];
      others.push(async () => {
        try {
          resolve(await work());
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
    if (restMs < REVIEW_MS_QUICK) setImmediate(() => void this.#take());
    else setTimeout(() => void this.#take(), Math.min(restMs, REVIEW_REST_MS_MAX));
  }

  async #take(): Promise<void> {
    const [next] = this.#waiting;
    this.#isRunning = next !== undefined;
    if (next === undefined) return;
    const [address, [work, ...others]] = next;
    this.#waiting.delete(address);
    if (others.length > 0) this.#waiting.set(address, others);
    const since = performance.now();
    await work?.();
    this.#next(performance.now() - since);
  }
}
