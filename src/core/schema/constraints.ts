// The API server's checks of an object, made before any other component sees it: OpenAPI's types, ranges, lengths,
// patterns, required members, and the exclusions and rules that CRDs add in CEL. Checked on the object as received; the
// data is generated (istio-constraints.gen.ts).
//
// Of a list or map with more than its limit that alone is reported: what is in it has no limit, so its check would cost
// far more than that of any object that is accepted.
//
// Unlike decode.ts, which is as lenient as protojson, this is as strict as the API server: `"80"` is no number, and
// null only where it may be. As there, each constraint is compiled once, when it is first met, and a path is written
// only for a problem.

import { codePoints } from '../base/code-points.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../base/json.ts';
import { keysOf } from '../base/keys.ts';
import { type Cel, compileCel } from './cel.ts';
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
  /** The elements of a list differ. */
  readonly unique?: true;
  readonly enum?: readonly (string | number)[];
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
  /** Rules as expressions, each with what a broken one says. They run only on a value without any other problem. */
  readonly cel?: readonly { readonly rule: Cel; readonly message: string }[];
  /** The value of an absent member (defaults.ts). */
  readonly default?: Json;
}

/** The CRD's constraints on the spec. */
export interface SpecConstraint {
  /** There must be a spec. */
  readonly required: boolean;
  readonly spec: Constraint;
  /** Of served versions that demand something else. */
  readonly versions?: Readonly<Record<string, Constraint>>;
}

export type ReportConstraint = (path: string, message: string) => void;

/** A member's name, an element's index, or a key of a free object, which KEYED stands before. */
type Segment = string | number;
/** No index: the next segment is a key of a free object. */
const KEYED = -1;
interface Context {
  /** Where the value stands that is being checked. */
  readonly path: Segment[];
  readonly report: ReportConstraint;
  /** Problems so far. */
  found: number;
}
type Check = (context: Context, json: Json) => void;

const compiled = new WeakMap<Constraint, Check>();
const SHOWN_MAX = 40;

/** Reports everything that is wrong with `json`. Total for any JSON: it goes as deep as the constraint does. */
export function checkConstraint(constraint: Constraint, json: Json, path: string, report: ReportConstraint): void {
  const context: Context = {
    path: [path],
    report: (at, message) => {
      context.found += 1;
      report(at, message);
    },
    found: 0,
  };
  checkOf(constraint)(context, json);
}

/** Constraints hold no cycles: they are written out, equal parts shared. */
function checkOf(constraint: Constraint): Check {
  const known = compiled.get(constraint);
  if (known !== undefined) return known;
  const check = compile(constraint);
  compiled.set(constraint, check);
  return check;
}

function compile(constraint: Constraint): Check {
  const { type, nullable = false } = constraint;
  const content = contentCheck(constraint);
  const rules = (constraint.rules ?? []).map(rule => crdRules[rule]);
  const expressions = (constraint.cel ?? []).map(({ rule, message }) => ({ holds: compileCel(rule), message }));
  const isOfType = TYPES[type];
  return (context, json) => {
    const before = context.found;
    if (json === null) {
      if (!nullable) say(context, 'null is not allowed here');
      return;
    }
    if (!isOfType(json)) {
      say(context, `expected ${NAMES[type]}, found ${show(json)}`);
      return;
    }
    if (isTooLarge(constraint, json)) {
      sayTooLarge(context, constraint, json);
      return;
    }
    content?.(context, json);
    for (const rule of rules) {
      const found = rule(json);
      if (found !== undefined) say(context, found);
    }
    if (context.found > before) return;
    for (const { holds, message } of expressions) if (!holds(json)) say(context, message);
  };
}

/** Has the list or map more elements than the constraint allows? */
export function isTooLarge({ maxItems, maxProperties }: Constraint, json: Json): boolean {
  if (maxItems !== undefined && Array.isArray(json)) return json.length > maxItems;
  return maxProperties !== undefined && isObject(json) && keysOf(json).length > maxProperties;
}

function sayTooLarge(context: Context, { maxItems, maxProperties }: Constraint, json: Json): void {
  if (Array.isArray(json)) checkRange(context, undefined, maxItems, json.length, ' elements');
  else if (isObject(json)) checkRange(context, undefined, maxProperties, keysOf(json).length, ' members');
}

const NAMES = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
} as const;

const TYPES: Readonly<Record<Constraint['type'], (json: Json) => boolean>> = {
  string: json => typeof json === 'string',
  integer: json => Number.isInteger(json),
  number: json => typeof json === 'number',
  boolean: json => typeof json === 'boolean',
  object: isObject,
  array: json => Array.isArray(json),
};

/** Checks that run once the type is right. */
function contentCheck(constraint: Constraint): Check | undefined {
  switch (constraint.type) {
    case 'string':
      return stringCheck(constraint) as Check | undefined;
    case 'integer':
    case 'number': {
      const { minimum, maximum } = constraint;
      const values = constraint.enum;
      if (minimum === undefined && maximum === undefined && values === undefined) return undefined;
      return (context, json) => {
        checkRange(context, minimum, maximum, json as number, '');
        if (values?.includes(json as number) === false) {
          say(context, `expected one of ${values.join(', ')}, found ${show(json)}`);
        }
      };
    }
    case 'object':
      return objectCheck(constraint) as Check;
    case 'array':
      return listCheck(constraint) as Check;
    case 'boolean':
      return undefined;
  }
}

function stringCheck(constraint: Constraint): ((context: Context, text: string) => void) | undefined {
  const { minLength, maxLength } = constraint;
  const names = constraint.enum && new Set<string | number>(constraint.enum);
  const measured = minLength !== undefined || maxLength !== undefined;
  const pattern = constraint.pattern === undefined ? undefined : new RegExp(linearPattern(constraint.pattern), 'u');
  if (names === undefined && !measured && pattern === undefined) return undefined;
  return (context, text) => {
    if (names !== undefined && !names.has(text)) {
      say(context, `expected one of ${[...names].filter(name => name !== '').join(', ')}, found ${show(text)}`);
    }
    // As the API server does: what is too long is not matched, so the cost of a pattern is bounded.
    if (measured && checkLength(context, minLength, maxLength, text)) return;
    if (pattern !== undefined && !pattern.test(text))
      say(context, `${show(text)} does not match ${constraint.pattern}`);
  };
}

/**
 * Patterns that take time exponential in the text, which the API server's engine (RE2) does not, and equal ones that do
 * not.
 */
const LINEAR: ReadonlyMap<string, string> = new Map([['^[!-~]+([\\t ]?[!-~]+)*$', '^[!-~]+(?:[\\t ][!-~]+)*$']]);

/** As it is run. */
export function linearPattern(pattern: string): string {
  return LINEAR.get(pattern) ?? pattern;
}

/** True: there is a problem. */
function checkLength(context: Context, min: number | undefined, max: number | undefined, text: string): boolean {
  // A code point takes one or two code units: most texts need not be counted.
  const units = text.length;
  if ((min === undefined || units >= 2 * min) && (max === undefined || units <= max)) return false;
  const length = codePoints(text);
  if ((min === undefined || length >= min) && (max === undefined || length <= max)) return false;
  if (min === 1 && length === 0) say(context, 'is empty');
  else if (max === 0 && length > 0) say(context, 'must not be set');
  else checkRange(context, min, max, length, ' characters');
  return true;
}

function objectCheck(constraint: Constraint): (context: Context, json: JsonObject) => void {
  const { minProperties, required = [] } = constraint;
  const groups = [
    ...(constraint.atMostOne ?? []).map(names => ({ names, exactly: false })),
    ...(constraint.exactlyOne ?? []).map(names => ({ names, exactly: true })),
  ];
  const checkMembers = membersCheck(constraint);
  return (context, json) => {
    const keys = keysOf(json);
    checkRange(context, minProperties, undefined, keys.length, ' members');
    for (const name of required) if (json[name] === undefined) sayMember(context, name, 'is missing');
    for (const { names, exactly } of groups) {
      let set = 0;
      for (const name of names) if (json[name] !== undefined) set++;
      if (exactly && set !== 1) say(context, `exactly one of ${names.join(', ')} must be set`);
      else if (set > 1) say(context, `only one of ${names.join(', ')} can be set`);
    }
    checkMembers?.(context, json, keys);
  };
}

/** Undefined: an object may hold anything. */
function membersCheck({
  properties,
  values,
}: Constraint): ((context: Context, json: JsonObject, keys: readonly string[]) => void) | undefined {
  if (values !== undefined) return valuesCheck(checkOf(values));
  if (properties === undefined) return undefined;
  const members = new Map(Object.entries(properties).map(([name, one]) => [name, checkOf(one)]));
  return (context, json, keys) => {
    for (const key of keys) {
      const member = json[key];
      if (member === undefined) continue;
      const check = members.get(key);
      if (check === undefined) {
        sayMember(context, key, 'unknown field');
        continue;
      }
      context.path.push(key);
      check(context, member);
      context.path.pop();
    }
  };
}

function valuesCheck(check: Check): (context: Context, json: JsonObject, keys: readonly string[]) => void {
  return (context, json, keys) => {
    const { path } = context;
    path.push(KEYED, '');
    for (const key of keys) {
      const value = json[key];
      if (value === undefined) continue;
      path[path.length - 1] = key;
      check(context, value);
    }
    path.length -= 2;
  };
}

function listCheck(constraint: Constraint): (context: Context, list: readonly Json[]) => void {
  const { minItems, keys, unique } = constraint;
  const item = constraint.items && checkOf(constraint.items);
  return (context, list) => {
    checkRange(context, minItems, undefined, list.length, ' elements');
    for (let i = 0; item !== undefined && i < list.length; i++) {
      context.path.push(i);
      item(context, list[i]!);
      context.path.pop();
    }
    if (keys !== undefined && list.length > 1) checkIdentities(context, keys, list);
    if (unique && new Set(list.map(canonicalJson)).size < list.length) say(context, 'has an element twice');
  };
}

function checkIdentities(context: Context, keys: readonly string[], list: readonly Json[]): void {
  const seen = new Set<string>();
  list.forEach((element, i) => {
    const identity = keys.map(key => (isObject(element) ? canonicalJson(element[key]) : '')).join('\n');
    if (seen.has(identity)) {
      context.report(`${pathOf(context)}[${i}]`, `has the same ${keys.join(', ')} as an earlier element`);
    }
    seen.add(identity);
  });
}

function checkRange(
  context: Context,
  min: number | undefined,
  max: number | undefined,
  value: number,
  unit: string,
): void {
  if (min !== undefined && value < min) say(context, `is ${value}${unit}; expected at least ${min}`);
  if (max !== undefined && value > max) say(context, `is ${value}${unit}; at most ${max} allowed`);
}

function say(context: Context, message: string): void {
  context.report(pathOf(context), message);
}

function sayMember(context: Context, key: string, message: string): void {
  context.report(join(pathOf(context), key), message);
}

function pathOf({ path }: Context): string {
  let text = '';
  for (let i = 0; i < path.length; i++) {
    const segment = path[i]!;
    if (segment === KEYED) text += `[${path[++i]}]`;
    else text = typeof segment === 'number' ? `${text}[${segment}]` : join(text, segment);
  }
  return text;
}

function show(json: Json): string {
  if (typeof json === 'object') return Array.isArray(json) ? 'a list' : 'an object';
  if (typeof json !== 'string') return `${json}`;
  return `the string ${JSON.stringify(json.length > SHOWN_MAX ? `${json.slice(0, SHOWN_MAX)}…` : json)}`;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
