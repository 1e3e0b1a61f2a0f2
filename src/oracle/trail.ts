// A prediction in the making: the way so far, immutable, so that a fork can go on from it in several directions.

import type { Branch, Outcome, Stage, Step, Verdict } from './prediction.ts';

export interface Trail {
  readonly probability: number;
  readonly steps: readonly Step[];
  readonly unmodelled: readonly string[];
  readonly verdicts: readonly Verdict[];
}

export const start: Trail = { probability: 1, steps: [], unmodelled: [], verdicts: [] };

export function step(trail: Trail, stage: Stage, name: string, why: string, passedOver: readonly string[] = []): Trail {
  return { ...trail, steps: [...trail.steps, { stage, name, why, passedOver }] };
}

/** A step that a filter of policies takes. */
export function judged(trail: Trail, stage: Stage, verdict: Verdict): Trail {
  const on = step(trail, stage, verdict.filter, verdict.why);
  return { ...on, verdicts: [...on.verdicts, verdict] };
}

/** One of several ways, taken with this chance. */
export function fork(trail: Trail, share: number): Trail {
  return { ...trail, probability: trail.probability * share };
}

export function unmodelled(trail: Trail, filter: string): Trail {
  return trail.unmodelled.includes(filter) ? trail : { ...trail, unmodelled: [...trail.unmodelled, filter] };
}

export function end(trail: Trail, outcome: Outcome): readonly Branch[] {
  return trail.probability > 0 ? [{ ...trail, outcome, beyond: [] }] : [];
}

/**
 * As `end`, for a way that goes to one of several with these weights. Weights that add up to 0 lead nowhere: `none` is
 * the result then.
 */
export function weigh<T>(
  trail: Trail,
  options: readonly (readonly [weight: number, option: T])[],
  go: (trail: Trail, option: T) => readonly Branch[],
  none: (trail: Trail) => readonly Branch[],
): readonly Branch[] {
  const total = options.reduce((sum, [weight]) => sum + weight, 0);
  if (total <= 0) return none(trail);
  return options.flatMap(([weight, option]) => (weight > 0 ? go(fork(trail, weight / total), option) : []));
}
