// Time, timers and randomness of the adapter, injected so that tests can replace them.

export interface Chance {
  /** Milliseconds since the epoch. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Runs `run` once, at the earliest after `ms`. */
  after(ms: number, run: () => void): { cancel(): void };
}

/** Resolves after `ms`, or at once when the signal is aborted. */
export function sleep(chance: Chance, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise(resolve => {
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = chance.after(ms, done);
    signal.addEventListener('abort', done);
  });
}
