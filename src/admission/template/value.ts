// Values of a template, as Go knows them. A float is a number (numbers of YAML and JSON are floats there), an integer
// is a bigint: they print differently and do not compare. `undefined` is Go's invalid value, a missing member, `null`
// is nil: `{{ .missing.member }}` is fine and `{{ .null.member }}` is an error.
//
// Plain objects are maps of any values (map[string]any). Go structs and maps of texts are `Viewed`: their zero values
// and member names differ. Source: Go text/template/exec.go, fmt/print.go.

import type { Json, JsonObject } from '../../core/base/json.ts';
import { type Budget, TemplateFault } from './limits.ts';

export type Value = undefined | null | boolean | number | bigint | string | readonly Value[] | Viewed | ValueMap;

export interface ValueMap {
  readonly [key: string]: Value;
}

/** Something with members of its own making: a struct, a message, a map with typed elements. */
export abstract class Viewed {
  /** What Go calls it, in messages. */
  abstract readonly typeName: string;
  /** `.name`; undefined: no such member. */
  abstract field(name: string): Value;
  /** `index value key`. */
  abstract element(key: string): Value;
  /** Pairs in the order of their keys, for range and len; undefined: it has no elements. */
  abstract entries(): readonly (readonly [string, Value])[] | undefined;
  abstract isTrue(): boolean;
  abstract json(): Json;
  has(key: string): boolean {
    return this.entries()?.some(([name]) => name === key) === true;
  }
}

/** The zero value of a struct's field whose type is not known: false, empty, '', and a struct of zero values. */
class Zero extends Viewed {
  readonly typeName = 'zero value';

  field(): Value {
    return this;
  }

  element(): Value {
    return this;
  }

  entries(): readonly (readonly [string, Value])[] {
    return [];
  }

  isTrue(): boolean {
    return false;
  }

  json(): Json {
    return null;
  }
}

export const ZERO: Viewed = new Zero();

export function isMap(value: Value): value is ValueMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Viewed);
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Sorted by key, as Go ranges over maps. */
export function entriesOf(map: ValueMap): readonly (readonly [string, Value])[] {
  return Object.keys(map)
    .sort()
    .map(key => [key, map[key]] as const);
}

export function isTrue(value: Value): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'object') {
    if (isList(value)) return value.length > 0;
    return value instanceof Viewed ? value.isTrue() : Object.keys(value).length > 0;
  }
  return value !== false && value !== 0 && value !== 0n && value !== '' && !Number.isNaN(value);
}

/** The values of JSON as they are: its numbers are floats. */
export function fromJson(json: Json): Value {
  return json as Value;
}

export function toJson(value: Value): Json {
  if (value === undefined) return null;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Viewed) return value.json();
  if (isList(value)) return value.map(toJson);
  const members = Object.entries(value as ValueMap).map(([key, member]) => [key, toJson(member)] as const);
  return Object.fromEntries(members) as JsonObject;
}

export function typeOf(value: Value): string {
  if (value === undefined) return 'invalid value';
  if (value === null) return 'nil';
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (isList(value)) return '[]interface {}';
  return value instanceof Viewed ? value.typeName : 'map[string]interface {}';
}

/** `%v`. */
export function show(value: Value): string {
  if (value === undefined || value === null) return '<nil>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return showFloat(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(show).join(' ')}]`;
  if (value === ZERO) return '';
  if (value instanceof Viewed) {
    const entries = value.entries();
    return entries === undefined ? show(fromJson(value.json())) : showMap(entries);
  }
  return showMap(entriesOf(value as ValueMap));
}

function showMap(entries: readonly (readonly [string, Value])[]): string {
  return `map[${entries.map(([key, member]) => `${key}:${show(member)}`).join(' ')}]`;
}

/** `%g` with the fewest digits: an exponent from 1e6 on, and below 1e-4 (Go strconv/ftoa.go). */
export function showFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return String(value);
}

/** Lists and maps within each other, of a value that a function is given. */
export const VALUE_DEPTH_MAX = 100;

/**
 * Charges what it costs to look at all of a value, before anything does: a template can put a list into itself twice,
 * again and again.
 */
export function charge(value: Value, budget: Budget, depth = 0): void {
  if (typeof value === 'string') budget.make(value.length);
  if (typeof value !== 'object' || value === null) return;
  if (depth > VALUE_DEPTH_MAX) throw new TemplateFault(`makes a value nested more than ${VALUE_DEPTH_MAX} levels deep`);
  if (value instanceof Viewed) budget.make(1);
  else if (isList(value)) {
    budget.make(value.length + 1);
    for (const element of value) charge(element, budget, depth + 1);
  } else {
    for (const [key, member] of Object.entries(value as ValueMap)) {
      budget.make(key.length + 1);
      charge(member, budget, depth + 1);
    }
  }
}

/** An argument that Go declares as string. */
export function textArgument(value: Value, name: string): string {
  if (typeof value === 'string') return value;
  if (value === ZERO) return '';
  throw new TemplateFault(`${name}: wrong type for value; expected string; got ${typeOf(value)}`);
}

/** sprig's reading of a text: nil is none, other values as they print (sprig strings.go, strval). */
export function anyText(value: Value): string {
  return typeof value === 'string' ? value : show(value);
}
