// sprig's arithmetic: integers of 64 bits that wrap, texts and floats converted. Source: Masterminds/sprig numeric.go.

import { ANY_NUMBER, taking } from '../arguments.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { TemplateFault } from '../limits.ts';
import type { Value } from '../value.ts';

export const numbers: { readonly [name: string]: TemplateFunction } = {
  int: taking(1, 1, ([value]) => integer(value)),
  int64: taking(1, 1, ([value]) => integer(value)),
  atoi: taking(1, 1, ([value]) => integer(value)),
  float64: taking(1, 1, ([value]) => float(value)),
  add: folded((a, b) => a + b, 0n),
  add1: taking(1, 1, ([value]) => BigInt.asIntN(64, integer(value) + 1n)),
  sub: taking(2, 2, ([a, b]) => BigInt.asIntN(64, integer(a) - integer(b))),
  mul: folded((a, b) => a * b, 1n),
  div: taking(2, 2, ([a, b]) => integer(a) / divisor(b)),
  mod: taking(2, 2, ([a, b]) => integer(a) % divisor(b)),
  max: taking(1, ANY_NUMBER, args => args.map(integer).sort(ascending).at(-1)),
  min: taking(1, ANY_NUMBER, args => args.map(integer).sort(ascending)[0]),
  floor: taking(1, 1, ([value]) => Math.floor(float(value))),
  ceil: taking(1, 1, ([value]) => Math.ceil(float(value))),
  round: taking(2, 2, ([value, digits]) => {
    const scale = 10 ** Math.min(Number(integer(digits)), 15);
    return Math.round(float(value) * scale) / scale;
  }),
};

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function folded(combine: (a: bigint, b: bigint) => bigint, start: bigint): TemplateFunction {
  return taking(0, ANY_NUMBER, args => args.map(integer).reduce((a, b) => BigInt.asIntN(64, combine(a, b)), start));
}

function divisor(value: Value): bigint {
  const found = integer(value);
  if (found === 0n) throw new TemplateFault('integer divide by zero');
  return found;
}

/** 0 for what is no number. */
function integer(value: Value): bigint {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'number') return Number.isFinite(value) ? BigInt.asIntN(64, BigInt(Math.trunc(value))) : 0n;
  return typeof value === 'string' && /^[-+]?[0-9]{1,19}$/.test(value)
    ? BigInt.asIntN(64, BigInt(value.replace('+', '')))
    : 0n;
}

function float(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return Number(value) || 0;
  return Number(integer(value));
}
