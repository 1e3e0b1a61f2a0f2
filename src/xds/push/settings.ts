// Settings of the push schedule, under istiod's environment names where it has them (pilot/pkg/features/tuning.go).

import { durationMs } from '../../core/mesh/features.ts';

export interface ScheduleSettings {
  /** PILOT_DEBOUNCE_AFTER: a request waits until no other came for this long. */
  readonly debounceAfterMs: number;
  /** PILOT_DEBOUNCE_MAX: the longest time that further requests can delay one. */
  readonly debounceMaxMs: number;
  /** PILOT_ENABLE_EDS_DEBOUNCE: if false, endpoint changes are never debounced. */
  readonly endpointDebounce: boolean;
  /** PILOT_PUSH_THROTTLE: connections with a push in flight; 0 in the environment means the default. */
  readonly windowSize: number;
  /** A push in flight gives up its slot in the window after this time. */
  readonly slotHoldMs: number;
}

/**
 * Large, because connections of one window share generation, receipt and bytes, and each further window costs one more
 * commit and round trip. Concurrent writes have limits of their own (serve/limits.ts).
 */
export const PUSH_WINDOW = 1_024;
export const PUSH_SLOT_HOLD_MS = 5_000;

export const defaultScheduleSettings: ScheduleSettings = {
  debounceAfterMs: 100,
  debounceMaxMs: 10_000,
  endpointDebounce: true,
  windowSize: PUSH_WINDOW,
  slotHoldMs: PUSH_SLOT_HOLD_MS,
};

/** A value that cannot be parsed counts as not set, as in Istio. */
export function scheduleSettings(env: Readonly<Record<string, string | undefined>>): ScheduleSettings {
  const defaults = defaultScheduleSettings;
  const throttle = Number(env.PILOT_PUSH_THROTTLE ?? 0);
  return {
    debounceAfterMs: durationMs(env.PILOT_DEBOUNCE_AFTER ?? '') ?? defaults.debounceAfterMs,
    debounceMaxMs: durationMs(env.PILOT_DEBOUNCE_MAX ?? '') ?? defaults.debounceMaxMs,
    endpointDebounce: !['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(env.PILOT_ENABLE_EDS_DEBOUNCE ?? ''),
    windowSize: Number.isSafeInteger(throttle) && throttle > 0 ? throttle : defaults.windowSize,
    slotHoldMs: defaults.slotHoldMs,
  };
}
