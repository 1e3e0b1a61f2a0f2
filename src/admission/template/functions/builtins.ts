// Go's own functions of templates, but for and/or (evaluate.ts). Source: Go text/template/funcs.go.

import { ANY_NUMBER, integerArgument, taking } from '../arguments.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { formatted } from '../format.ts';
import { goJson } from '../go-json.ts';
import { TemplateFault } from '../limits.ts';
import { isList, isMap, isTrue, show, textArgument, typeOf, type Value, Viewed, ZERO } from '../value.ts';

export const builtins: { readonly [name: string]: TemplateFunction } = {
  not: taking(1, 1, ([value]) => !isTrue(value)),
  eq: taking(2, ANY_NUMBER, ([first, ...others]) => others.some(other => equal(first, other))),
  ne: taking(2, 2, ([a, b]) => !equal(a, b)),
  lt: taking(2, 2, ([a, b]) => order(a, b) < 0),
  le: taking(2, 2, ([a, b]) => order(a, b) <= 0),
  gt: taking(2, 2, ([a, b]) => order(a, b) > 0),
  ge: taking(2, 2, ([a, b]) => order(a, b) >= 0),
  len: taking(1, 1, ([value]) => BigInt(lengthOf(value))),
  index: taking(1, ANY_NUMBER, ([value, ...keys]) => keys.reduce<Value>(elementOf, value)),
  slice: taking(1, 3, ([value, from, to]) => sliced(value, from, to)),
  print: taking(0, ANY_NUMBER, (args, { budget }) => made(budget, printed(args))),
  println: taking(0, ANY_NUMBER, (args, { budget }) => made(budget, `${args.map(show).join(' ')}\n`)),
  printf: taking(1, ANY_NUMBER, ([format, ...args], { budget }) =>
    formatted(textArgument(format, 'printf'), args, budget),
  ),
  html: taking(1, ANY_NUMBER, (args, { budget }) => made(budget, printed(args).replace(/[&<>'"\0]/g, escapedHtml))),
  js: taking(1, ANY_NUMBER, (args, { budget }) => made(budget, goJson(printed(args)).slice(1, -1))),
  urlquery: taking(1, ANY_NUMBER, (args, { budget }) =>
    made(budget, encodeURIComponent(printed(args)).replaceAll('%20', '+')),
  ),
};

function made(budget: { make(count: number): void }, text: string): string {
  budget.make(text.length);
  return text;
}

/** Blanks between operands that are both no texts. */
function printed(args: readonly Value[]): string {
  return args
    .map((arg, i) =>
      i > 0 && typeof arg !== 'string' && typeof args[i - 1] !== 'string' ? ` ${show(arg)}` : show(arg),
    )
    .join('');
}

function escapedHtml(character: string): string {
  return { '&': '&amp;', '<': '&lt;', '>': '&gt;', "'": '&#39;', '"': '&#34;' }[character] ?? '\ufffd';
}

/** Two basic values of different kinds cannot be compared; nil equals nothing but nil. */
export function equal(a: Value, b: Value): boolean {
  const [left, right] = [a ?? null, b ?? null];
  if (left === ZERO || right === ZERO) return isZero(left) && isZero(right);
  if (left === null || right === null) return left === right;
  if (isBasic(left) && isBasic(right)) {
    if (typeof left !== typeof right) throw new TemplateFault('incompatible types for comparison');
    return left === right;
  }
  if (left instanceof Viewed && right instanceof Viewed)
    return left === right || goJson(left.json()) === goJson(right.json());
  throw new TemplateFault(`non-comparable type: ${typeOf(isBasic(left) ? right : left)}`);
}

function isZero(value: Value): boolean {
  return !isTrue(value);
}

function isBasic(value: Value): value is string | number | bigint | boolean {
  return typeof value !== 'object';
}

function order(a: Value, b: Value): number {
  for (const kind of ['string', 'number', 'bigint']) {
    if (typeof a === kind && typeof b === kind) return a! < b! ? -1 : a! > b! ? 1 : 0;
  }
  throw new TemplateFault('incompatible types for comparison');
}

function lengthOf(value: Value): number {
  if (typeof value === 'string') return utf8Length(value);
  if (isList(value)) return value.length;
  if (isMap(value)) return Object.keys(value).length;
  if (value instanceof Viewed) {
    const entries = value.entries();
    if (entries !== undefined) return entries.length;
  }
  throw new TemplateFault(
    value === undefined || value === null ? 'len of nil pointer' : `len of type ${typeOf(value)}`,
  );
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function elementOf(value: Value, key: Value): Value {
  if (value === undefined || value === null) throw new TemplateFault('index of untyped nil');
  if (isList(value)) {
    const at = integerArgument(key);
    if (at < 0 || at >= value.length) throw new TemplateFault(`index out of range: ${at}`);
    return value[at];
  }
  if (value instanceof Viewed) return value.element(textArgument(key, 'index'));
  if (isMap(value)) {
    const name = textArgument(key, 'index');
    return Object.hasOwn(value, name) ? value[name] : undefined;
  }
  throw new TemplateFault(`can't index item of type ${typeOf(value)}`);
}

function sliced(value: Value, from: Value, to: Value): Value {
  if (!isList(value) && typeof value !== 'string') throw new TemplateFault(`can't slice item of type ${typeOf(value)}`);
  const start = from === undefined ? 0 : integerArgument(from);
  const end = to === undefined ? value.length : integerArgument(to);
  if (start < 0 || end < start || end > value.length) throw new TemplateFault(`index out of range: ${start}:${end}`);
  return value.slice(start, end);
}
