// The numbers of the push schedule, by istiod's environment names where it has them (pilot/pkg/features/tuning.go, spec-events §4).

import { durationMs } from '../../core/mesh/features.ts';

export interface ScheduleSettings {
  /** PILOT_DEBOUNCE_AFTER: quiet time that a request waits for. */
  readonly debounceAfterMs: number;
  /** PILOT_DEBOUNCE_MAX: how long a storm can hold a request. */
  readonly debounceMaxMs: number;
  /** PILOT_ENABLE_EDS_DEBOUNCE: false lets endpoint changes leave at once in a storm too. */
  readonly endpointDebounce: boolean;
  /** PILOT_PUSH_THROTTLE: connections with a push under way; 0 in the environment means the default. */
  readonly windowSize: number;
  /** How long a push counts against the window. */
  readonly slotHoldMs: number;
}

/**
 * Those who wait cost little, as they are sent the same bytes; the writes themselves have limits of their own (limits.ts). Whoever is in the second
 * window waits for what the first one answers, and for a commit of its own.
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

/** An unparsable value counts as not given, as in Istio. */
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
