// The wait before the next attempt. Pure: the random number comes from the caller, so that tests and simulations are
// reproducible.

import { backoffMs as jittered } from '../kit/backoff.ts';
import { BACKOFF_MS_MAX, BACKOFF_MS_MIN, RETRY_AFTER_MS_MAX } from './limits.ts';

/**
 * Milliseconds to wait after `failures` failures in a row (from 1). `random` in [0, 1): half of the time is fixed, half
 * is jitter. The server's Retry-After (`retryAfterMs`) is a lower bound.
 */
export function backoffMs(failures: number, random: number, retryAfterMs = 0): number {
  const wait = jittered(failures, random, { minMs: BACKOFF_MS_MIN, maxMs: BACKOFF_MS_MAX });
  return Math.max(wait, Math.min(retryAfterMs, RETRY_AFTER_MS_MAX));
}
