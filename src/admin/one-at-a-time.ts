// Pages that take work are made one after another, and after each the event loop rests as long as the page took: a
// client that asks for them in a loop, from any number of connections, leaves half of the time to everything else.

/** Requests that wait for their turn; more are refused. */
export const PAGES_WAITING_MAX = 32;
/** A page that took longer rests no longer than this. */
export const PAGE_REST_MS_MAX = 1_000;

export class Busy extends Error {}

export class OneAtATime {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Rejects with Busy at once if too many wait. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#waiting >= PAGES_WAITING_MAX) return Promise.reject(new Busy('too many of these pages are asked for'));
    this.#waiting++;
    let took = 0;
    const made = this.#tail.then(async () => {
      const since = performance.now();
      try {
        return await work();
      } finally {
        this.#waiting--;
        took = Math.min(performance.now() - since, PAGE_REST_MS_MAX);
      }
    });
    const restAfter = (): Promise<void> => rest(took);
    this.#tail = made.then(restAfter, restAfter);
    return made;
  }
}

function rest(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms).unref());
}
