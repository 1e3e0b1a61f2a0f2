// Percentages as Envoy wants them: parts of a hundred, or of a million where a fraction is possible.

import { type FractionalPercent, FractionalPercent_DenominatorType } from '../../proto/types.gen.ts';

const PARTS_PER_PERCENT = 10_000;

/** `value` percent, truncated to a ten-thousandth. Zero is written by leaving the numerator out. */
export function perMillion(value: number): FractionalPercent {
  const numerator = Math.trunc(value * PARTS_PER_PERCENT);
  return { numerator: numerator || undefined, denominator: FractionalPercent_DenominatorType.MILLION };
}

/** `value` whole percent. */
export function perHundred(value: number): FractionalPercent {
  return { numerator: value || undefined };
}
