// How often one question to a registry may be asked: twice at once, then once in a while. The time between questions
// grows while answers keep coming (the index of a Consul moves on unrelated writes) and shrinks again after a quiet
// time. Pure: the caller brings the time and sleeps.

/** Questions without a wait after a quiet time. */
export const BURST = 2;
/** Bounds of the time between two questions under churn. */
export const GAP_MS_MIN = 1_000;
export const GAP_MS_MAX = 15_000;

export interface Pace {
  /** Questions that may be asked without a wait, at most `BURST`. */
  readonly tokens: number;
  readonly gapMs: number;
  readonly at: number;
}

export function freshPace(now: number): Pace {
  return { tokens: BURST, gapMs: GAP_MS_MIN, at: now };
}

/** One question: how long to wait before it, and the pace afterwards. */
export function paced(pace: Pace, now: number): { readonly waitMs: number; readonly pace: Pace } {
  const refilled = Math.min(BURST, pace.tokens + Math.max(0, now - pace.at) / pace.gapMs);
  const gapMs = refilled === BURST ? GAP_MS_MIN : pace.gapMs;
  if (refilled >= 1) return { waitMs: 0, pace: { tokens: refilled - 1, gapMs, at: now } };
  const waitMs = Math.ceil((1 - refilled) * gapMs);
  return { waitMs, pace: { tokens: 0, gapMs: Math.min(GAP_MS_MAX, gapMs * 2), at: now + waitMs } };
}
