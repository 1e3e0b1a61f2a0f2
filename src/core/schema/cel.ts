// Rules of CRDs in CEL, as trees that scripts/crd/cel.mjs parses: compiled once into functions that say whether a value
// keeps the rule.
//
// As in CEL an expression may fail (a member that is absent, values of different types), and `||`, `&&` and the macros
// ignore a failure that cannot change the result. A rule that fails is not kept, as for the API server. Total for any
// JSON; a rule is as expensive as it is written, so callers ask it only about values whose sizes are within their
// limits.

import ipaddr from 'ipaddr.js';
import { codePoints } from '../base/code-points.ts';
import { isObject, type Json, jsonEqual } from '../base/json.ts';
import { keysOf } from '../base/keys.ts';
import { parseDuration } from './duration.ts';

export type Cel =
  | readonly ['value', string | number | boolean]
  | readonly ['variable', string]
  | readonly ['list', ...Cel[]]
  | readonly ['member' | 'has', Cel, string]
  | readonly ['all' | 'exists' | 'exists_one' | 'filter', Cel, string, Cel]
  | readonly ['matches', Cel, pattern: string, flags: string]
  | readonly ['call', string, ...Cel[]]
  | readonly ['!', Cel]
  | readonly ['if', Cel, Cel, Cel]
  | readonly ['&&' | '||' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '+' | 'in' | 'index', Cel, Cel];

/** Undefined: the expression fails. */
type Value = Json | undefined;
type Scope = ReadonlyMap<string, Value>;
type Evaluate = (scope: Scope) => Value;

export function compileCel(rule: Cel): (self: Json) => boolean {
  const evaluate = compile(rule);
  return self => evaluate(new Map([['self', self]])) === true;
}

function compile(tree: Cel): Evaluate {
  switch (tree[0]) {
    case 'value':
      return () => tree[1];
    case 'variable':
      return scope => scope.get(tree[1]);
    case 'list': {
      const elements = (tree.slice(1) as Cel[]).map(compile);
      return scope => allOrNone(elements.map(element => element(scope)));
    }
    case 'member':
    case 'has':
      return memberOf(tree[0] === 'has', compile(tree[1]), tree[2]);
    case 'all':
    case 'exists':
    case 'exists_one':
    case 'filter':
      return macro(tree[0], compile(tree[1]), tree[2], compile(tree[3]));
    case 'matches': {
      const text = compile(tree[1]);
      const pattern = new RegExp(tree[2], tree[3]);
      return scope => ofText(text(scope), value => pattern.test(value));
    }
    case 'call':
      return call(tree[1], (tree.slice(2) as Cel[]).map(compile));
    case '!': {
      const operand = compile(tree[1]);
      return scope => ofBoolean(operand(scope), value => !value);
    }
    case 'if': {
      const [condition, then, otherwise] = [compile(tree[1]), compile(tree[2]), compile(tree[3])];
      return scope => ofBoolean(condition(scope), holds => (holds ? then(scope) : otherwise(scope)));
    }
    case '&&':
      return either(false, compile(tree[1]), compile(tree[2]));
    case '||':
      return either(true, compile(tree[1]), compile(tree[2]));
    default:
      return binary(tree[0], compile(tree[1]), compile(tree[2]));
  }
}

/** `deciding` decides alone, on whichever side; otherwise both sides must be booleans. */
function either(deciding: boolean, left: Evaluate, right: Evaluate): Evaluate {
  return scope => {
    const first = left(scope);
    if (first === deciding) return deciding;
    const second = right(scope);
    if (second === deciding) return deciding;
    return typeof first === 'boolean' && typeof second === 'boolean' ? !deciding : undefined;
  };
}

function memberOf(asks: boolean, object: Evaluate, name: string): Evaluate {
  return scope => {
    const value = object(scope);
    if (!isObject(value)) return undefined;
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    return asks ? member !== undefined : member;
  };
}

function macro(
  name: 'all' | 'exists' | 'exists_one' | 'filter',
  list: Evaluate,
  variable: string,
  body: Evaluate,
): Evaluate {
  return scope => {
    const value = list(scope);
    const elements = Array.isArray(value) ? (value as readonly Json[]) : isObject(value) ? keysOf(value) : undefined;
    if (elements === undefined) return undefined;
    const results = elements.map(element => body(new Map(scope).set(variable, element)));
    const failed = results.some(result => typeof result !== 'boolean');
    if (name === 'all') return results.includes(false) ? false : failed ? undefined : true;
    if (name === 'exists') return results.includes(true) ? true : failed ? undefined : false;
    if (failed) return undefined;
    const kept = elements.filter((_, i) => results[i] === true);
    return name === 'filter' ? kept : kept.length === 1;
  };
}

type Binary = '==' | '!=' | '<' | '<=' | '>' | '>=' | '+' | 'in' | 'index';

function binary(operation: Binary, left: Evaluate, right: Evaluate): Evaluate {
  return scope => {
    const a = left(scope);
    const b = right(scope);
    return a === undefined || b === undefined ? undefined : operate(operation, a, b);
  };
}

function operate(operation: Binary, a: Json, b: Json): Value {
  switch (operation) {
    case '==':
      return jsonEqual(a, b);
    case '!=':
      return !jsonEqual(a, b);
    case 'in':
      if (Array.isArray(b)) return b.some(element => jsonEqual(element as Json, a));
      return isObject(b) && typeof a === 'string' ? Object.hasOwn(b, a) : undefined;
    case 'index':
      return Array.isArray(a) && typeof b === 'number' ? (a[b] as Value) : undefined;
    case '+':
      return typeof a === 'number' && typeof b === 'number' ? a + b : undefined;
    default:
      return typeof a === 'number' && typeof b === 'number' ? compare(operation, a, b) : undefined;
  }
}

function compare(operation: '<' | '<=' | '>' | '>=', a: number, b: number): boolean {
  if (operation === '<') return a < b;
  if (operation === '<=') return a <= b;
  return operation === '>' ? a > b : a >= b;
}

/** A duration is compared as its seconds. */
const FUNCTIONS: Readonly<Record<string, (value: Json, argument: Json) => Value>> = {
  contains: (text, part) => ofTexts(text, part, (a, b) => a.includes(b)),
  duration: text =>
    ofText(text, value => {
      const parsed = parseDuration(value);
      return parsed && parsed.seconds + parsed.nanos / 1e9;
    }),
  endsWith: (text, part) => ofTexts(text, part, (a, b) => a.endsWith(b)),
  isIP: text => ofText(text, isIp),
  size: value => {
    if (typeof value === 'string') return codePoints(value);
    if (Array.isArray(value)) return value.length;
    return isObject(value) ? keysOf(value).length : undefined;
  },
  split: (text, separator) => ofTexts(text, separator, (a, b) => a.split(b)),
  startsWith: (text, part) => ofTexts(text, part, (a, b) => a.startsWith(b)),
  substring: (text, from) => ofText(text, value => (typeof from === 'number' ? value.slice(from) : undefined)),
};

/** An IPv4 address of four decimal parts, or an IPv6 address. */
export function isIp(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

function call(name: string, args: readonly Evaluate[]): Evaluate {
  const run = FUNCTIONS[name];
  return scope => {
    const [value, argument = null] = args.map(arg => arg(scope));
    return run === undefined || value === undefined ? undefined : run(value, argument);
  };
}

function ofText(value: Value, use: (text: string) => Value): Value {
  return typeof value === 'string' ? use(value) : undefined;
}

function ofTexts(a: Value, b: Value, use: (a: string, b: string) => Value): Value {
  return typeof a === 'string' && typeof b === 'string' ? use(a, b) : undefined;
}

function ofBoolean(value: Value, use: (value: boolean) => Value): Value {
  return typeof value === 'boolean' ? use(value) : undefined;
}

function allOrNone(values: readonly Value[]): Value {
  return values.some(value => value === undefined) ? undefined : (values as readonly Json[]);
}
