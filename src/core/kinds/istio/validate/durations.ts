// Durations as Istio's kinds take them: at least a millisecond, in whole milliseconds.
// Source: Istio pkg/config/validation/agent (ValidateDuration).

import type { Duration } from '../../../schema/duration.ts';
import type { Report } from '../../report.ts';

const NANOS_PER_MS = 1_000_000;

/** An absent duration is fine. */
export function checkDuration(duration: Duration | undefined, path: string, report: Report): void {
  if (duration === undefined) return;
  if (milliseconds(duration) < 1) {
    report(path, `${showDuration(duration)} is too short: expected at least 1ms`);
  } else if (duration.nanos % NANOS_PER_MS !== 0) {
    report(path, `${showDuration(duration)} is too fine: expected whole milliseconds`);
  }
}

export function checkWholeSeconds(duration: Duration | undefined, path: string, report: Report): void {
  checkDuration(duration, path, report);
  if (duration !== undefined && duration.nanos !== 0 && duration.nanos % NANOS_PER_MS === 0) {
    report(path, `${showDuration(duration)} is too fine: expected whole seconds`);
  }
}

/** With fractions. */
export function milliseconds({ seconds, nanos }: Duration): number {
  return seconds * 1000 + nanos / NANOS_PER_MS;
}

export function showDuration(duration: Duration): string {
  return `${milliseconds(duration) / 1000}s`;
}
