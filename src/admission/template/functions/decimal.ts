// sprig's arithmetic of floats: in decimals, so that 0.1 and 0.2 are 0.3. Source: Masterminds/sprig numeric.go
// (execDecimalOp), shopspring/decimal.

import { TemplateFault } from '../limits.ts';

/** digits × 10^-scale */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Digits behind the point of a quotient. */
const QUOTIENT_SCALE = 16;

type Operation = (a: Decimal, b: Decimal) => Decimal;

/** From the left, the result as the nearest float. */
export function decimalOf([first = 0, ...others]: readonly number[], operation: Operation): number {
  const { digits, scale } = others.map(decimal).reduce(operation, decimal(first));
  return Number(`${digits}e${-scale}`);
}

export const plus: Operation = (a, b) => {
  const scale = Math.max(a.scale, b.scale);
  return { digits: scaled(a, scale) + scaled(b, scale), scale };
};
export const minus: Operation = (a, b) => plus(a, { digits: -b.digits, scale: b.scale });
export const times: Operation = (a, b) => ({ digits: a.digits * b.digits, scale: a.scale + b.scale });
export const over: Operation = (a, b) => {
  if (b.digits === 0n) throw new TemplateFault('decimal division by 0');
  const scale = Math.max(a.scale, b.scale + QUOTIENT_SCALE);
  // One digit more, to round by: away from zero from 5 on.
  const more = scaled(a, scale + 1) * (b.scale > 0 ? 10n ** BigInt(b.scale) : 1n);
  const quotient = more / (b.scale < 0 ? scaled(b, 0) : b.digits);
  const rounded = (quotient + (quotient < 0n ? -5n : 5n)) / 10n;
  return withScale({ digits: rounded, scale }, QUOTIENT_SCALE);
};

function decimal(value: number): Decimal {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(value));
  if (found === null) throw new TemplateFault(`no decimal: ${value}`);
  const [, sign, whole, fraction = '', exponent = '0'] = found;
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(exponent) };
}

function scaled({ digits, scale }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}

/** Of a result that has more digits behind the point, those of a quotient are kept. */
function withScale(value: Decimal, scale: number): Decimal {
  if (value.scale <= scale) return value;
  const cut = 10n ** BigInt(value.scale - scale);
  const half = (value.digits < 0n ? -cut : cut) / 2n;
  return { digits: (value.digits + half) / cut, scale };
}
