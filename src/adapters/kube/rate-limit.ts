// The client-side rate limit, as istiod's: a bucket of `burst` tokens that fills at `qps` per second. Pure. A token
// that is not available yet is promised: the caller waits and then has it.

export interface RateLimit {
  readonly qps: number;
  readonly burst: number;
}

export interface Bucket {
  /** Negative: tokens promised to waiting callers. */
  readonly tokens: number;
  /** The time (milliseconds) that `tokens` refers to. */
  readonly at: number;
}

export function fullBucket(limit: RateLimit, now: number): Bucket {
  return { tokens: limit.burst, at: now };
}

/** Takes one token and returns the milliseconds to wait for it. A clock that goes back adds no tokens. */
export function takeToken(limit: RateLimit, bucket: Bucket, now: number): readonly [Bucket, number] {
  const filled = bucket.tokens + (Math.max(0, now - bucket.at) * limit.qps) / 1_000;
  const tokens = Math.min(limit.burst, filled) - 1;
  const at = Math.max(now, bucket.at);
  return [{ tokens, at }, tokens >= 0 ? 0 : Math.ceil((-tokens * 1_000) / limit.qps)];
}
