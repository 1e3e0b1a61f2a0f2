// How long a certificate lives that a workload asks for: as long as requested, as long as allowed, and never longer
// than the one that signs it.
//
// A request above the maximum is an error and not cut down; agents would not notice.
// Source: Istio security/pkg/pki/ca/ca.go (minTTL, sign).

export interface LifetimeSettings {
  readonly defaultTtlMs: number;
  readonly maxTtlMs: number;
}

export class LifetimeError extends Error {}

/** Milliseconds; `seconds`: as requested for, 0 or less: no wish. Throws a LifetimeError. */
export function lifetimeOf({ defaultTtlMs, maxTtlMs }: LifetimeSettings, seconds: number): number {
  if (!(seconds > 0)) return defaultTtlMs;
  const requested = seconds * 1_000;
  if (requested > maxTtlMs) {
    throw new LifetimeError(
      `requested TTL ${goDuration(requested)} is greater than the max allowed TTL ${goDuration(maxTtlMs)}`,
    );
  }
  return requested;
}

/** The default of a plugged-in authority ends with the first certificate of its chain. Undefined: that has expired. */
export function defaultLifetime(
  defaultTtlMs: number,
  chainNotAfter: number | undefined,
  now: number,
): number | undefined {
  if (chainNotAfter === undefined) return defaultTtlMs;
  const left = chainNotAfter - now;
  return left <= 0 ? undefined : Math.min(defaultTtlMs, left);
}

/** As Go prints whole seconds: `2160h0m0s`. */
function goDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 3_600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`;
}
