// JSON to a typed object by a schema, or everything that is wrong with it, each with its path: an author mends a file in one go, not one field
// at a time. Lenient where protojson is (both names of a field, numbers as text, enum numbers, null for absent), strict everywhere else.
//
// Only presence that the JSON has is in the result: no defaults are filled in. Map entries are sorted by key, so equal objects decode alike.

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { assert } from '../assert.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { type Problem, problem } from '../problem.ts';
import { decodeScalar } from './scalars.ts';
import type { FieldType, Schema, SchemaEnum, SchemaField } from './schema.ts';

export interface DecodeOptions {
  /** Skip fields that the schema does not have, as istiod does with objects from the API server. Unknown enum names stay problems. */
  readonly ignoreUnknown?: boolean;
  /** A null in a list or map is skipped, as istiod's decoder has it, and not a problem. */
  readonly skipNull?: boolean;
  /** Messages that an Any may hold though the schema does not have them; their fields are not looked at. */
  readonly opaque?: (message: string) => boolean;
}
export type Decode<M> = <K extends keyof M & string>(
  type: K,
  json: Json | undefined,
  path: string,
  options?: DecodeOptions,
) => Either<NonEmptyArray<Problem>, M[K]>;

/** An object may have a million mistakes; nobody reads more than these. */
export const PROBLEMS_MAX = 100;
const SHOWN_LENGTH_MAX = 40;
const NULL_REFUSED = 'null is not allowed here';

interface MessageIndex {
  readonly byName: ReadonlyMap<string, SchemaField>;
}
interface EnumIndex {
  readonly numbers: SchemaEnum;
  readonly names: ReadonlyMap<number, string>;
}
interface Context {
  readonly messages: ReadonlyMap<string, MessageIndex>;
  readonly enums: ReadonlyMap<string, EnumIndex>;
  readonly ignoreUnknown: boolean;
  readonly skipNull: boolean;
  readonly opaque: (message: string) => boolean;
  readonly problems: Problem[];
}

/** `M` maps the full names of the schema's messages to the types of their decoded form. An absent object is an empty one. */
export function makeDecoder<M>(schema: Schema): Decode<M> {
  const messages = new Map(Object.entries(schema.messages).map(([name, fields]) => [name, indexMessage(fields)]));
  const enums = new Map(Object.entries(schema.enums).map(([name, numbers]) => [name, indexEnum(numbers)]));
  return (type, json, path, options) => {
    const context: Context = {
      messages,
      enums,
      ignoreUnknown: options?.ignoreUnknown ?? false,
      skipNull: options?.skipNull ?? false,
      opaque: options?.opaque ?? (() => false),
      problems: [],
    };
    const value = json === undefined || json === null ? {} : decodeMessage(context, type, json, path);
    const [first, ...rest] = context.problems;
    if (first === undefined) return right(value as M[typeof type]);
    return left([first, ...rest]);
  };
}

function indexMessage(fields: readonly SchemaField[]): MessageIndex {
  const byName = new Map<string, SchemaField>();
  for (const field of fields) {
    byName.set(field.name, field);
    if (field.protoName !== undefined) byName.set(field.protoName, field);
  }
  return { byName };
}

function indexEnum(numbers: SchemaEnum): EnumIndex {
  const names = new Map<number, string>();
  for (const [name, number] of Object.entries(numbers)) if (!names.has(number)) names.set(number, name);
  return { numbers, names };
}

function decodeMessage(context: Context, type: string, json: Json, path: string): JsonLike | undefined {
  const index = context.messages.get(type);
  assert(index !== undefined, `no message ${type} in the schema`);
  if (!isObject(json)) return report(context, path, mismatch('an object', json));
  const out: Record<string, unknown> = {};
  const givenAs = new Map<string, string>();
  const groups = new Map<string, string>();
  for (const key of Object.keys(json)) {
    const value = json[key];
    const at = join(path, key);
    const field = index.byName.get(key);
    if (field === undefined) {
      if (!context.ignoreUnknown) report(context, at, 'unknown field');
      continue;
    }
    if (value === undefined || (value === null && field.type !== 'value')) continue;
    const earlier = givenAs.get(field.name);
    if (earlier !== undefined) report(context, at, `is the same field as \`${earlier}\`, which is also set`);
    givenAs.set(field.name, key);
    if (field.oneof !== undefined) {
      const other = groups.get(field.oneof);
      if (other !== undefined && earlier === undefined) report(context, at, `cannot be set together with \`${other}\``);
      groups.set(field.oneof, key);
    }
    const decoded = decodeField(context, field, value, at);
    if (decoded !== undefined) out[field.name] = decoded;
  }
  return out;
}

type JsonLike = Readonly<Record<string, unknown>>;

function decodeField(context: Context, field: SchemaField, json: Json, path: string): unknown {
  if (field.map !== undefined) return decodeMap(context, field, field.map, json, path);
  if (field.repeated) {
    if (!isArray(json)) return report(context, path, mismatch('a list', json));
    return json.map((element, i) => decodeElement(context, field.type, element, `${path}[${i}]`));
  }
  return decodeSingle(context, field.type, json, path);
}

function decodeMap(
  context: Context,
  field: SchemaField,
  keyType: 'string' | 'uint32',
  json: Json,
  path: string,
): unknown {
  if (!isObject(json)) return report(context, path, mismatch('an object', json));
  const entries = Object.keys(json)
    .sort()
    .map((key): readonly [string, unknown] => {
      const at = `${path}[${key}]`;
      const keyed = decodeScalar(keyType, key);
      if ('expected' in keyed) report(context, at, `the key must be ${keyed.expected}`);
      return [key, decodeElement(context, field.type, json[key] ?? null, at)];
    });
  // Not by assignment: a key may be `__proto__`.
  return Object.fromEntries(entries);
}

function decodeElement(context: Context, type: FieldType, json: Json, path: string): unknown {
  if (json === null && type !== 'value') return context.skipNull ? undefined : report(context, path, NULL_REFUSED);
  return decodeSingle(context, type, json, path);
}

function decodeSingle(context: Context, type: FieldType, json: Json, path: string): unknown {
  if (typeof type === 'object') {
    return 'message' in type
      ? decodeMessage(context, type.message, json, path)
      : decodeEnum(context, type.enum, json, path);
  }
  if (type === 'any') return decodeAny(context, json, path);
  const decoded = decodeScalar(type, json);
  return 'expected' in decoded ? report(context, path, mismatch(decoded.expected, json)) : decoded.value;
}

/** protojson's form of google.protobuf.Any. A well-known type is written as its own JSON under `value`, and nothing is known of it here. */
function decodeAny(context: Context, json: Json, path: string): unknown {
  if (!isObject(json)) return report(context, path, mismatch('an object with @type', json));
  const { '@type': url, ...rest } = json;
  if (typeof url !== 'string')
    return report(context, join(path, '@type'), 'is missing: expected the name of a message');
  const name = url.slice(url.lastIndexOf('/') + 1);
  if (context.messages.has(name)) decodeMessage(context, name, rest, path);
  else if (!context.opaque(name)) report(context, join(path, '@type'), `${show(url)} names no message that is known`);
  return json;
}

function decodeEnum(context: Context, type: string, json: Json, path: string): unknown {
  const index = context.enums.get(type);
  assert(index !== undefined, `no enum ${type} in the schema`);
  if (typeof json === 'string' && Object.hasOwn(index.numbers, json)) return json;
  const name = typeof json === 'number' ? index.names.get(json) : undefined;
  return name ?? report(context, path, mismatch(`one of ${Object.keys(index.numbers).join(', ')}`, json));
}

function report(context: Context, path: string, message: string): undefined {
  if (context.problems.length < PROBLEMS_MAX) context.problems.push(problem(path, message));
  else if (context.problems.length === PROBLEMS_MAX) context.problems.push(problem('', 'there are more problems'));
  return undefined;
}

function mismatch(expected: string, found: Json): string {
  return `expected ${expected}, found ${show(found)}`;
}

function show(json: Json): string {
  if (json === null) return 'null';
  if (typeof json === 'object') return isArray(json) ? 'a list' : 'an object';
  if (typeof json !== 'string') return `${json}`;
  const text = json.length > SHOWN_LENGTH_MAX ? `${json.slice(0, SHOWN_LENGTH_MAX)}…` : json;
  return `the string ${JSON.stringify(text)}`;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function isArray(json: Json | JsonObject): json is readonly Json[] {
  return Array.isArray(json);
}
