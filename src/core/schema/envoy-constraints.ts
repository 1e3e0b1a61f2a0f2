// What Envoy demands of a message beyond its types: the rules that its API carries for protoc-gen-validate (ranges,
// lengths, patterns, required members), which Envoy checks of every resource and of every configuration inside of it
// before it takes anything, and the fields that it disallows by default. The data is generated
// (envoy-constraints.gen.ts). Source: envoyproxy/envoy, MessageUtil::validate, and bufbuild/protoc-gen-validate.
//
// A resource with one broken rule is refused whole, so the first few say enough. Messages are those of
// envoy-message.ts; an Any is looked into if its type is known.

import { constraintsOfEnvoy } from './envoy-constraints.gen.ts';
import type { EnvoyMessage } from './envoy-message.ts';
import type { MessageConstraint, ValueRule } from './envoy-rule.ts';
import { type EnvoyField, type EnvoyType, envoyEnum, envoyType } from './envoy-types.ts';

export interface Violation {
  /** In camel case, e.g. `filterChains[0].filters[2].typedConfig.statPrefix`. */
  readonly path: string;
  readonly message: string;
}

/** Most violations of one message that are reported. */
const VIOLATIONS_MAX = 10;
/** Code points of a text that a message repeats. */
const SHOWN_MAX = 40;

/** What a text must look like, by the names of protoc-gen-validate's well-known expressions. */
const TEXTS: Readonly<Record<string, string>> = {
  'header name': String.raw`^[^\u0000\n\r]*$`,
  'header value': String.raw`^[^\u0000\n\r]*$`,
  'strict header name': String.raw`^:?[0-9a-zA-Z!#$%&'*+\-.^_|~\u0060]+$`,
  'strict header value': String.raw`^[^\u0000-\u0008\n-\u001F\u007F]*$`,
};

const constraints: ReadonlyMap<string, MessageConstraint> = new Map(constraintsOfEnvoy);
const patterns = new Map<string, RegExp>();

/** The rule of what has none. */
const NO_RULE: ValueRule = {};
/** Members of a list or map from which it is worth remembering that nothing is wrong in it. */
const REMEMBERED_MIN = 100;

/**
 * Large lists and maps in which nothing is wrong, and the rule and field that they were checked by: a patch puts the
 * same one into every resource. Messages do not change.
 */
const sound = new WeakMap<object, { readonly field: EnvoyField; readonly rule: ValueRule }>();

/** What was found in one message. */
class Found {
  readonly violations: Violation[] = [];
  /** Elements of lists and keys of maps that were looked at. */
  looked = 0;

  get isFull(): boolean {
    return this.violations.length >= VIOLATIONS_MAX;
  }
}

/** The first ten, in the order of the fields; none of a message whose type is not known. */
export function envoyViolations(type: string, message: EnvoyMessage): readonly Violation[] {
  return envoyExamination(type, message).violations;
}

/** The same, with how many elements of lists and keys of maps were looked at for it. */
export function envoyExamination(type: string, message: EnvoyMessage): Pick<Readonly<Found>, 'violations' | 'looked'> {
  const found = new Found();
  checkMessage(type, message, '', found);
  return found;
}

function checkMessage(name: string, message: EnvoyMessage, path: string, found: Found): void {
  const type = envoyType(name);
  if (type === undefined) return;
  const constraint = constraints.get(name);
  if (constraint !== undefined) checkGroups(constraint, message, path, found);
  for (const field of fieldsToCheck(type, constraint, message)) {
    if (found.isFull) return;
    checkField(field, constraint?.fields[field.name] ?? NO_RULE, message[field.name], inside(path, field.name), found);
  }
}

function checkGroups({ oneofs = [] }: MessageConstraint, message: EnvoyMessage, path: string, found: Found): void {
  for (const group of oneofs) {
    if (group.some(name => message[name] !== undefined)) continue;
    report(found, path, `one of ${group.slice(0, SHOWN_MAX).join(', ')} is required`);
  }
}

/** Those that are set, and those with a rule: an absent one can break it. */
function* fieldsToCheck(
  type: EnvoyType,
  constraint: MessageConstraint | undefined,
  message: EnvoyMessage,
): IterableIterator<EnvoyField> {
  const names = new Set([...Object.keys(constraint?.fields ?? {}), ...Object.keys(message)]);
  for (const name of names) {
    const field = type.fields.get(name);
    if (field !== undefined) yield field;
  }
}

function checkField(field: EnvoyField, rule: ValueRule, value: unknown, path: string, found: Found): void {
  if (rule.disallowed === true && value !== undefined) report(found, path, 'Envoy disallows this field');
  if (field.repeated) checkList(field, rule, (value ?? []) as readonly unknown[], path, found);
  else if (field.map) checkMap(field, rule, (value ?? {}) as Readonly<Record<string, unknown>>, path, found);
  else if (value !== undefined) checkElement(field, rule, value, path, found);
  else if (rule.required === true && field.oneof === undefined) report(found, path, 'a value is required');
  else if (hasDefault(field)) checkValue(rule, field, defaultOf(field), path, found);
}

/** An absent field reads as its default: a scalar or enum without presence. */
function hasDefault({ type, wrapper, oneof }: EnvoyField): boolean {
  if (wrapper || oneof !== undefined) return false;
  if (typeof type === 'object') return 'enum' in type;
  return type !== 'duration' && type !== 'timestamp' && type !== 'any' && type !== 'struct' && type !== 'value';
}

function defaultOf({ type }: EnvoyField): unknown {
  if (type === 'string') return '';
  if (type === 'bool') return false;
  return type === 'bytes' ? new Uint8Array() : 0;
}

function checkList(field: EnvoyField, rule: ValueRule, list: readonly unknown[], path: string, found: Found): void {
  if ((list.length === 0 && rule.ignoreEmpty === true) || isSound(list, field, rule)) return;
  const before = found.violations.length;
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = rule;
  if (list.length < minItems) report(found, path, `at least ${minItems} ${minItems === 1 ? 'is' : 'are'} required`);
  if (list.length > maxItems) report(found, path, `at most ${maxItems} are allowed`);
  if (rule.unique === true && new Set(list).size < list.length) report(found, path, 'its elements must differ');
  found.looked += list.length;
  for (const [i, one] of list.entries()) {
    if (found.isFull) return;
    checkElement(field, rule.items ?? NO_RULE, one, `${path}[${i}]`, found);
  }
  if (list.length >= REMEMBERED_MIN && isNothingNew(found, before)) sound.set(list, { field, rule });
}

/** With ten found nothing more is looked at. */
function isNothingNew(found: Found, before: number): boolean {
  return found.violations.length === before && !found.isFull;
}

function isSound(members: object, field: EnvoyField, rule: ValueRule): boolean {
  const known = sound.get(members);
  return known !== undefined && known.field === field && known.rule === rule;
}

function checkMap(
  field: EnvoyField,
  rule: ValueRule,
  map: Readonly<Record<string, unknown>>,
  path: string,
  found: Found,
): void {
  if (isSound(map, field, rule)) return;
  const before = found.violations.length;
  const keys = Object.keys(map);
  if (keys.length === 0 && rule.ignoreEmpty === true) return;
  const { minPairs = 0, maxPairs = Number.POSITIVE_INFINITY } = rule;
  if (keys.length < minPairs) report(found, path, `at least ${minPairs} is required`);
  if (keys.length > maxPairs) report(found, path, `at most ${maxPairs} are allowed`);
  // Not those of metadata, which are copied for each resource that a patch merges more into.
  const valuesToo = rule.values !== undefined || isLookedInto(field);
  const enough = soundLength(rule.keys ?? NO_RULE);
  found.looked += keys.length;
  for (const key of keys) {
    if (found.isFull) return;
    if (!valuesToo && key.length >= enough) continue;
    const at = `${path}[${shown(key)}]`;
    if (rule.keys !== undefined) checkValue(rule.keys, field, key, at, found);
    if (valuesToo) checkElement(field, rule.values ?? NO_RULE, map[key], at, found);
  }
  if (keys.length >= REMEMBERED_MIN && isNothingNew(found, before)) sound.set(map, { field, rule });
}

/** Code units from which on a text keeps the rule for certain, so that no path has to be written for it. */
function soundLength({ minLen = 0, ...others }: ValueRule): number {
  return Object.keys(others).length === 0 ? 2 * minLen : Number.POSITIVE_INFINITY;
}

/** A value has members with rules of their own. */
function isLookedInto({ type }: EnvoyField): boolean {
  return type === 'any' || (typeof type === 'object' && 'message' in type);
}

/** One value of the field's type. */
function checkElement(field: EnvoyField, rule: ValueRule, value: unknown, path: string, found: Found): void {
  const { type, wrapper, listValue } = field;
  if (value === null || listValue) return;
  if (typeof type === 'object' && 'message' in type) {
    checkMessage(type.message, value as EnvoyMessage, path, found);
  } else if (type === 'any') {
    const url = (value as EnvoyMessage)['@type'];
    if (typeof url === 'string') checkMessage(url.slice(url.lastIndexOf('/') + 1), value as EnvoyMessage, path, found);
  } else {
    checkValue(rule, field, wrapper ? (value as EnvoyMessage).value : value, path, found);
  }
}

/** A scalar, an enum's number or a duration. */
function checkValue(rule: ValueRule, field: EnvoyField, value: unknown, path: string, found: Found): void {
  if (rule === NO_RULE) return;
  if (rule.ignoreEmpty === true && (value === '' || value === 0)) return;
  const { type } = field;
  if (rule.defined === true && typeof type === 'object' && 'enum' in type) {
    if (!Object.values(envoyEnum(type.enum)).includes(value as number)) {
      report(found, path, `${String(value)} is no value of ${type.enum}`);
    }
  }
  const said =
    typeof value === 'string'
      ? wrongText(rule, value)
      : value instanceof Uint8Array
        ? wrongLength(rule, value.length, 'bytes')
        : wrongNumber(rule, numberOf(type, value));
  if (said !== undefined) report(found, path, said);
  else if (!isAllowed(rule, value)) report(found, path, `it must not be ${shown(String(value))}`);
}

function numberOf(type: EnvoyField['type'], value: unknown): number {
  if (type !== 'duration') return Number(value);
  const { seconds = 0, nanos = 0 } = value as { readonly seconds?: number; readonly nanos?: number };
  return seconds + nanos / 1e9;
}

function isAllowed({ in: one, notIn = [], const: constant }: ValueRule, value: unknown): boolean {
  if (constant !== undefined && value !== constant) return false;
  if (one !== undefined && !one.includes(value as string)) return false;
  return !notIn.includes(value as string);
}

function wrongText(rule: ValueRule, value: string): string | undefined {
  const { pattern, prefix = '', suffix = '', text } = rule;
  const length = wrongLength(rule, [...value].length, 'characters');
  if (length !== undefined) return length;
  const bytes = wrongLength(
    { minLen: rule.minBytes ?? 0, maxLen: rule.maxBytes ?? Number.POSITIVE_INFINITY },
    utf8Length(value),
    'bytes',
  );
  if (bytes !== undefined) return bytes;
  if (pattern !== undefined && !compiled(pattern).test(value)) return `${shown(value)} must match ${pattern}`;
  if (!value.startsWith(prefix)) return `${shown(value)} must start with ${prefix}`;
  if (!value.endsWith(suffix)) return `${shown(value)} must end with ${suffix}`;
  if (text !== undefined && !compiled(TEXTS[text] ?? '').test(value)) return `${shown(value)} must be a ${text}`;
  return undefined;
}

function wrongLength({ minLen = 0, maxLen = Number.POSITIVE_INFINITY }: ValueRule, length: number, unit: string) {
  if (length < minLen) return length === 0 ? 'it must not be empty' : `at least ${minLen} ${unit} are required`;
  return length > maxLen ? `at most ${maxLen} ${unit} are allowed` : undefined;
}

function wrongNumber({ gt, gte, lt, lte }: ValueRule, value: number): string | undefined {
  if (gt !== undefined && !(value > gt)) return `${value} must be greater than ${gt}`;
  if (gte !== undefined && !(value >= gte)) return `${value} must be at least ${gte}`;
  if (lt !== undefined && !(value < lt)) return `${value} must be less than ${lt}`;
  if (lte !== undefined && !(value <= lte)) return `${value} must be at most ${lte}`;
  return undefined;
}

function utf8Length(text: string): number {
  let length = 0;
  for (const letter of text) {
    const point = letter.codePointAt(0) ?? 0;
    length += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x1_00_00 ? 3 : 4;
  }
  return length;
}

function compiled(pattern: string): RegExp {
  let found = patterns.get(pattern);
  if (found === undefined) {
    found = new RegExp(pattern, 'u');
    patterns.set(pattern, found);
  }
  return found;
}

function report(found: Found, path: string, message: string): void {
  if (!found.isFull) found.violations.push({ path, message });
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function shown(text: string): string {
  const letters = [...text];
  return `${JSON.stringify(letters.length > SHOWN_MAX ? `${letters.slice(0, SHOWN_MAX).join('')}…` : text)}`;
}
