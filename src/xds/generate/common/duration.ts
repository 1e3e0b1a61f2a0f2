// Durations of Istio's objects as protobuf holds them.

import { type Duration, parseDuration } from '../../../core/schema/duration.ts';

/** A decoded duration, or text such as `1m30s`; undefined for anything else. */
export function durationOf(value: unknown): Duration | undefined {
  if (typeof value === 'string') return parseDuration(value);
  if (typeof value !== 'object' || value === null) return undefined;
  const { seconds, nanos } = value as { readonly seconds?: unknown; readonly nanos?: unknown };
  return { seconds: typeof seconds === 'number' ? seconds : 0, nanos: typeof nanos === 'number' ? nanos : 0 };
}

export function durationOfMs(milliseconds: number): Duration {
  const seconds = Math.trunc(milliseconds / 1000);
  return { seconds, nanos: Math.round((milliseconds - seconds * 1000) * 1_000_000) };
}

/** Sent explicitly where its absence would mean Envoy's own default. */
export const ZERO_DURATION: Duration = { seconds: 0, nanos: 0 };
