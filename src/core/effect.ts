// Requests of the fold to the runtime. Effects are data; the runtime carries them out.

import type { Origin, Problem } from './base/problem.ts';
import type { PushRequest } from './push-request.ts';

export interface PushEffect {
  readonly kind: 'Push';
  readonly request: PushRequest;
}
/** A verdict on an object that its author should see (log, status). */
export interface VerdictEffect {
  readonly kind: 'Verdict';
  /** `Kind/namespace/name`. */
  readonly object: string;
  readonly origin?: Origin;
  readonly accepted: boolean;
  readonly problems: readonly Problem[];
}

export type Effect = PushEffect | VerdictEffect;
