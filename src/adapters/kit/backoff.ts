// The wait before the next attempt after failures. Pure: the random number comes from the caller, so that tests and
// simulations are reproducible.

export interface BackoffBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Doubles with each failure in a row (from 1). `random` in [0, 1): half of the time is fixed, half is jitter. */
export function backoffMs(failures: number, random: number, { minMs, maxMs }: BackoffBounds): number {
  const full = Math.min(maxMs, minMs * 2 ** Math.min(failures - 1, 16));
  return Math.round(full / 2 + (random * full) / 2);
}
