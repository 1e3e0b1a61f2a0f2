// The client-side limit on requests, as istiod's: a bucket of `burst` tokens that fills at `qps` a second. Pure; whoever takes a token
// that is not there yet is told how long to wait, and has it then.

export interface RateLimit {
  readonly qps: number;
  readonly burst: number;
}

export interface Bucket {
  /** May be negative: tokens promised to those who wait. */
  readonly tokens: number;
  /** Milliseconds at which `tokens` was true. */
  readonly at: number;
}

export function fullBucket(limit: RateLimit, now: number): Bucket {
  return { tokens: limit.burst, at: now };
}

/** Takes one token; milliseconds to wait until it is there. A clock that goes back fills nothing. */
export function takeToken(limit: RateLimit, bucket: Bucket, now: number): readonly [Bucket, number] {
  const filled = bucket.tokens + (Math.max(0, now - bucket.at) * limit.qps) / 1_000;
  const tokens = Math.min(limit.burst, filled) - 1;
  const at = Math.max(now, bucket.at);
  return [{ tokens, at }, tokens >= 0 ? 0 : Math.ceil((-tokens * 1_000) / limit.qps)];
}
