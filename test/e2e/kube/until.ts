// Waits for what has to come, and says what did not.

/** Only what hangs is to fail: a request that an API server leaves unanswered is made again after a minute. */
const SETTLE_MS_MAX = 150_000;

export async function until(what: string, holds: () => Promise<boolean> | boolean, ms = SETTLE_MS_MAX): Promise<void> {
  const end = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`did not come within ${ms / 1_000} s: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}
