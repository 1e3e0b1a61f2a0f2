// sprig's arithmetic: integers of 64 bits that wrap, texts and floats converted. Source: Masterminds/sprig numeric.go.

import { ANY_NUMBER, ofTexts, taking } from '../arguments.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { TemplateFault } from '../limits.ts';
import { anyText, type Value } from '../value.ts';
import { decimalOf, minus, over, plus, times } from './decimal.ts';

export const numbers: { readonly [name: string]: TemplateFunction } = {
  int: taking(1, 1, ([value]) => integer(value)),
  int64: taking(1, 1, ([value]) => integer(value)),
  atoi: ofTexts(1, text => (/^[-+]?[0-9]{1,19}$/.test(text!) ? integer(text!.replace(/^([-+]?)0+(?=\d)/, '$1')) : 0n)),
  float64: taking(1, 1, ([value]) => float(value)),
  add: folded((a, b) => a + b, 0n),
  add1: taking(1, 1, ([value]) => BigInt.asIntN(64, integer(value) + 1n)),
  sub: taking(2, 2, ([a, b]) => BigInt.asIntN(64, integer(a) - integer(b))),
  mul: folded((a, b) => a * b, 1n),
  div: taking(2, 2, ([a, b]) => integer(a) / divisor(b)),
  mod: taking(2, 2, ([a, b]) => integer(a) % divisor(b)),
  max: taking(1, ANY_NUMBER, args => args.map(integer).sort(ascending).at(-1)),
  biggest: taking(1, ANY_NUMBER, args => args.map(integer).sort(ascending).at(-1)),
  min: taking(1, ANY_NUMBER, args => args.map(integer).sort(ascending)[0]),
  maxf: taking(1, ANY_NUMBER, args => Math.max(...args.map(float))),
  minf: taking(1, ANY_NUMBER, args => Math.min(...args.map(float))),
  add1f: taking(1, 1, ([value]) => decimalOf([float(value), 1], plus)),
  addf: taking(0, ANY_NUMBER, args => decimalOf([0, ...args.map(float)], plus)),
  subf: taking(1, ANY_NUMBER, args => decimalOf(args.map(float), minus)),
  mulf: taking(1, ANY_NUMBER, args => decimalOf(args.map(float), times)),
  divf: taking(1, ANY_NUMBER, args => decimalOf(args.map(float), over)),
  toDecimal: taking(1, 1, ([value]) => octal(anyText(value))),
  floor: taking(1, 1, ([value]) => Math.floor(float(value))),
  ceil: taking(1, 1, ([value]) => Math.ceil(float(value))),
  round: taking(2, 3, ([value, digits, up]) => {
    const scale = 10 ** Math.min(Number(integer(digits)), 15);
    const digit = float(value) * scale;
    const isUp = digit - Math.trunc(digit) >= (up === undefined ? 0.5 : float(up));
    return (isUp ? Math.ceil(digit) : Math.floor(digit)) / scale;
  }),
};

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function folded(combine: (a: bigint, b: bigint) => bigint, start: bigint): TemplateFunction {
  return taking(0, ANY_NUMBER, args => args.map(integer).reduce((a, b) => BigInt.asIntN(64, combine(a, b)), start));
}

/** A text of octal digits; 0 for any other. */
function octal(text: string): bigint {
  const found = /^([-+]?)([0-7]{1,21})$/.exec(text);
  if (found === null) return 0n;
  const value = BigInt(`0o${found[2]!}`) * (found[1] === '-' ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? value : 0n;
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
  return typeof value === 'string' ? integerOf(value) : 0n;
}

/** With the prefixes of Go's literals, a leading 0 being octal; of a decimal fraction its whole part. */
function integerOf(text: string): bigint {
  const [, sign = '', digits = ''] = /^([-+]?)([0-9a-zA-Z]{1,66})(?:\.[0-9]*)?$/.exec(text) ?? [];
  const literal = digits.replace(/^0(?=[0-7])/, '0o');
  if (!/^(?:[0-9]+|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/.test(literal)) return 0n;
  const value = BigInt(literal) * (sign === '-' ? -1n : 1n);
  return BigInt.asIntN(64, value) === value ? value : 0n;
}

function float(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return Number(value) || 0;
  return Number(integer(value));
}
