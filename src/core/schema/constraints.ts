// What the API server demands of an object before anybody else sees it: OpenAPI's types, ranges, lengths, patterns, required members, and the
// exclusions and rules that CRDs add in CEL. Checked on the object as received; the data is generated (istio-constraints.gen.ts).
//
// Unlike decode.ts, which is as lenient as protojson, this is as strict as the API server: `"80"` is no number, and null only where it may be.

import { isObject, type Json, type JsonObject } from '../json.ts';
import { type CrdRule, crdRules } from './crd-rules.ts';

export interface Constraint {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';
  readonly nullable?: true;
  /** The members; others are unknown. Without `properties` and `values` an object may hold anything. */
  readonly properties?: Readonly<Record<string, Constraint>>;
  readonly required?: readonly string[];
  /** Of each group at most one member, or exactly one, is set. */
  readonly atMostOne?: readonly (readonly string[])[];
  readonly exactlyOne?: readonly (readonly string[])[];
  /** Of the elements of a list. */
  readonly items?: Constraint;
  /** Members that together tell the elements of a list apart. */
  readonly keys?: readonly string[];
  /** Of the values of an object whose keys are free. */
  readonly values?: Constraint;
  readonly enum?: readonly string[];
  /** As in ECMAScript and RE2 alike; not anchored by itself. */
  readonly pattern?: string;
  /** Of strings in code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly rules?: readonly CrdRule[];
}

export type ReportConstraint = (path: string, message: string) => void;

const patterns = new Map<string, RegExp>();
const SHOWN_MAX = 40;

/** Reports everything that is wrong with `json`. Total for any JSON: it goes as deep as the constraint does. */
export function checkConstraint(constraint: Constraint, json: Json, path: string, report: ReportConstraint): void {
  if (json === null) {
    if (constraint.nullable !== true) report(path, 'null is not allowed here');
    return;
  }
  if (!isOfType(constraint.type, json)) {
    report(path, `expected ${NAMES[constraint.type]}, found ${show(json)}`);
    return;
  }
  if (typeof json === 'string') checkString(constraint, json, path, report);
  else if (typeof json === 'number') checkRange(constraint.minimum, constraint.maximum, json, '', path, report);
  else if (isObject(json)) checkObject(constraint, json, path, report);
  else if (Array.isArray(json)) checkList(constraint, json as readonly Json[], path, report);
  for (const rule of constraint.rules ?? []) {
    const found = crdRules[rule](json);
    if (found !== undefined) report(path, found);
  }
}

const NAMES = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
} as const;

function isOfType(type: Constraint['type'], json: Json): boolean {
  if (type === 'integer') return Number.isInteger(json);
  if (type === 'array') return Array.isArray(json);
  if (type === 'object') return isObject(json);
  return typeof json === type;
}

function checkString(constraint: Constraint, text: string, path: string, report: ReportConstraint): void {
  if (constraint.enum !== undefined && !constraint.enum.includes(text)) {
    report(path, `expected one of ${constraint.enum.filter(name => name !== '').join(', ')}, found ${show(text)}`);
  }
  if (constraint.minLength !== undefined || constraint.maxLength !== undefined) {
    const length = [...text].length;
    if (constraint.minLength === 1 && length === 0) report(path, 'is empty');
    else if (constraint.maxLength === 0 && length > 0) report(path, 'must not be set');
    else checkRange(constraint.minLength, constraint.maxLength, length, ' characters', path, report);
  }
  if (constraint.pattern !== undefined && !patternOf(constraint.pattern).test(text)) {
    report(path, `${show(text)} does not match ${constraint.pattern}`);
  }
}

function checkObject(constraint: Constraint, json: JsonObject, path: string, report: ReportConstraint): void {
  const keys = Object.keys(json);
  checkRange(constraint.minProperties, constraint.maxProperties, keys.length, ' members', path, report);
  for (const name of constraint.required ?? []) {
    if (json[name] === undefined) report(join(path, name), 'is missing');
  }
  for (const group of constraint.atMostOne ?? []) {
    const set = group.filter(name => json[name] !== undefined);
    if (set.length > 1) report(path, `only one of ${group.join(', ')} can be set`);
  }
  for (const group of constraint.exactlyOne ?? []) {
    const set = group.filter(name => json[name] !== undefined);
    if (set.length !== 1) report(path, `exactly one of ${group.join(', ')} must be set`);
  }
  const { properties, values } = constraint;
  for (const key of keys) {
    const value = json[key];
    if (value === undefined) continue;
    if (values !== undefined) checkConstraint(values, value, `${path}[${key}]`, report);
    else if (properties !== undefined) {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (property === undefined) report(join(path, key), 'unknown field');
      else checkConstraint(property, value, join(path, key), report);
    }
  }
}

function checkList(constraint: Constraint, list: readonly Json[], path: string, report: ReportConstraint): void {
  checkRange(constraint.minItems, constraint.maxItems, list.length, ' elements', path, report);
  const { items, keys } = constraint;
  if (items !== undefined) {
    for (const [i, element] of list.entries()) checkConstraint(items, element, `${path}[${i}]`, report);
  }
  if (keys === undefined) return;
  const seen = new Set<string>();
  list.forEach((element, i) => {
    const identity = keys.map(key => (isObject(element) ? String(element[key]) : '')).join('\n');
    if (seen.has(identity)) report(`${path}[${i}]`, `has the same ${keys.join(', ')} as an earlier element`);
    seen.add(identity);
  });
}

function checkRange(
  min: number | undefined,
  max: number | undefined,
  value: number,
  unit: string,
  path: string,
  report: ReportConstraint,
): void {
  if (min !== undefined && value < min) report(path, `is ${value}${unit}; expected at least ${min}`);
  if (max !== undefined && value > max) report(path, `is ${value}${unit}; at most ${max} allowed`);
}

function patternOf(pattern: string): RegExp {
  const known = patterns.get(pattern);
  if (known !== undefined) return known;
  const compiled = new RegExp(pattern, 'u');
  patterns.set(pattern, compiled);
  return compiled;
}

function show(json: Json): string {
  if (typeof json === 'object') return Array.isArray(json) ? 'a list' : 'an object';
  if (typeof json !== 'string') return `${json}`;
  return `the string ${JSON.stringify(json.length > SHOWN_MAX ? `${json.slice(0, SHOWN_MAX)}…` : json)}`;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
