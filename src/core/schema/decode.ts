// JSON to a typed object by a schema, or everything that is wrong with it, each with its path: an author mends a file
// in one go, not one field at a time. Lenient where protojson is (both names of a field, numbers as text, enum numbers,
// null for absent), strict everywhere else.
//
// Only presence that the JSON has is in the result: no defaults are filled in. Map entries are sorted by key, so equal
// objects decode alike.
//
// A schema is compiled once, each message on first use, into one function for each field. Every object of every event
// passes here, so lookups by name are done at compile time, and a path is formatted only for a problem.

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { assert } from '../base/assert.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { isInOrder, keepSorted, put, sortedKeysOf } from '../base/keys.ts';
import { enoughProblems, type Problem, problem, untilEnough } from '../base/problem.ts';
import { decodeScalar, type Mismatch } from './scalars.ts';
import type { FieldType, ScalarType, Schema, SchemaField } from './schema.ts';

export interface DecodeOptions {
  /**
   * Skip fields that the schema does not have, as istiod does with objects from the API server. Unknown enum names stay
   * problems.
   */
  readonly ignoreUnknown?: boolean;
  /** A null in a list or map is skipped, as istiod's decoder has it, and not a problem. */
  readonly skipNull?: boolean;
  /** Messages that an Any may hold although the schema lacks them; their fields are not checked. */
  readonly opaque?: (message: string) => boolean;
}
export type Decode<M> = <K extends keyof M & string>(
  type: K,
  json: Json | undefined,
  path: string,
  options?: DecodeOptions,
) => Either<NonEmptyArray<Problem>, M[K]>;

/** An object may have a million mistakes; the report ends after these. */
export const PROBLEMS_MAX = 100;
const SHOWN_LENGTH_MAX = 40;
const NULL_REFUSED = 'null is not allowed here';

/** A member's name, an element's index, or the key of a map, which KEYED stands before. */
type Segment = string | number;
/** No index: the next segment is the key of a map. */
const KEYED = -1;

interface Context {
  readonly ignoreUnknown: boolean;
  readonly skipNull: boolean;
  readonly opaque: ((message: string) => boolean) | undefined;
  /** Where the container stands that is being read. */
  readonly path: Segment[];
  readonly problems: Problem[];
}

/**
 * The decoded value; undefined if a problem was reported instead. `at` is the last segment of the path, which is not in
 * the context yet.
 */
type Read = (context: Context, json: Json, at: Segment) => unknown;

interface Field {
  readonly name: string;
  readonly keepsNull: boolean;
  /** A bit for its oneof, counted in its message; 0 for none. */
  readonly group: number;
  readonly read: Read;
}
/** Filled in when the message is first met: messages hold each other. */
interface Message {
  fields: ReadonlyMap<string, Field> | undefined;
  readonly schema: readonly SchemaField[];
}
interface Compiler {
  readonly messages: ReadonlyMap<string, Message>;
  readonly schema: Schema;
}

/**
 * `M` maps the full names of the schema's messages to the types of their decoded form. An absent object is an empty
 * one.
 */
export function makeDecoder<M>(schema: Schema): Decode<M> {
  const messages = new Map(
    Object.entries(schema.messages).map(([name, fields]): [string, Message] => [
      name,
      { fields: undefined, schema: fields },
    ]),
  );
  const compiler: Compiler = { messages, schema };
  return (type, json, path, options) => {
    if (json === undefined || json === null) return right({} as M[typeof type]);
    const context: Context = {
      ignoreUnknown: options?.ignoreUnknown ?? false,
      skipNull: options?.skipNull ?? false,
      opaque: options?.opaque,
      path: [],
      problems: [],
    };
    let value: JsonLike | undefined;
    untilEnough(() => {
      value = readMessage(compiler, messageOf(compiler, type), context, json, path);
    });
    if (context.problems.length === 0) return right(value as M[typeof type]);
    return left(context.problems as unknown as NonEmptyArray<Problem>);
  };
}

function messageOf({ messages }: Compiler, name: string): Message {
  const message = messages.get(name);
  assert(message !== undefined, `no message ${name} in the schema`);
  return message;
}

function fieldsOf(compiler: Compiler, message: Message): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  const groups = new Map<string, number>();
  for (const field of message.schema) {
    const { name, protoName, oneof } = field;
    if (oneof !== undefined && !groups.has(oneof)) groups.set(oneof, 1 << groups.size);
    const compiled = {
      name,
      keepsNull: field.type === 'value',
      group: oneof === undefined ? 0 : groups.get(oneof)!,
      read: fieldReader(compiler, field),
    };
    fields.set(name, compiled);
    if (protoName !== undefined) fields.set(protoName, compiled);
  }
  assert(groups.size < 31, 'more oneofs in a message than bits');
  message.fields = fields;
  return fields;
}

function readMessage(
  compiler: Compiler,
  message: Message,
  context: Context,
  json: Json,
  at: Segment,
): JsonLike | undefined {
  if (!isObject(json)) return mismatch(context, 'an object', json, at);
  const fields = message.fields ?? fieldsOf(compiler, message);
  const out: Record<string, unknown> = {};
  let groups = 0;
  context.path.push(at);
  // No list of the members is allocated: parsed values inherit no members.
  for (const key in json) {
    const value = json[key];
    const field = fields.get(key);
    if (field === undefined) {
      if (!context.ignoreUnknown) report(context, 'unknown field', memberPath(context, key));
      continue;
    }
    if (value === undefined || (value === null && !field.keepsNull)) continue;
    // Under both of its names: the one in camel case counts.
    if (key !== field.name && Object.hasOwn(json, field.name)) continue;
    if (field.group !== 0) {
      if ((groups & field.group) !== 0) reportTwo(context, fields, json, key);
      groups |= field.group;
    }
    out[field.name] = field.read(context, value, key);
  }
  context.path.pop();
  return out;
}

type JsonLike = Readonly<Record<string, unknown>>;

/** Of the fields of a oneof another was set before `key`. */
function reportTwo(context: Context, fields: ReadonlyMap<string, Field>, json: JsonObject, key: string): void {
  const { group } = fields.get(key)!;
  const keys = Object.keys(json);
  const earlier = keys.slice(0, keys.indexOf(key)).filter(name => {
    const value = json[name];
    const field = fields.get(name);
    return field?.group === group && value !== undefined && (value !== null || field.keepsNull);
  });
  report(context, `cannot be set together with \`${earlier.at(-1)}\``, memberPath(context, key));
}

function fieldReader(compiler: Compiler, field: SchemaField): Read {
  const read = typeReader(compiler, field.type);
  if (field.map !== undefined) return mapReader(field.map, elementReader(field.type, read));
  return field.repeated ? listReader(elementReader(field.type, read)) : read;
}

function typeReader(compiler: Compiler, type: FieldType): Read {
  if (typeof type === 'object') {
    if ('enum' in type) return enumReader(compiler, type.enum);
    const message = messageOf(compiler, type.message);
    return (context, json, at) => readMessage(compiler, message, context, json, at);
  }
  if (type === 'any') return anyReader(compiler);
  const read = scalarReader(type);
  if (!compiler.schema.strictNumbers) return read;
  if (INTEGERS.has(type)) return numberReader('an integer', read);
  return FLOATS.has(type) ? numberReader('a number', read) : read;
}

function listReader(element: Read): Read {
  return (context, json, at) => {
    if (!isArray(json)) return mismatch(context, 'a list', json, at);
    context.path.push(at);
    // Of the exact length: a list that grows has room for 16 elements more, and decoded objects are kept.
    const out = json.map((member, i) => element(context, member, i));
    context.path.pop();
    return out;
  };
}

function mapReader(keyType: 'string' | 'uint32', element: Read): Read {
  return (context, json, at) => {
    if (!isObject(json)) return mismatch(context, 'an object', json, at);
    const keys = sortedKeysOf(json);
    context.path.push(at, KEYED);
    // The map itself as long as its members are decoded to themselves, in order.
    let out: Record<string, unknown> | undefined = isInOrder(json) ? undefined : {};
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      if (keyType === 'uint32') checkKey(context, keyType, key);
      const given = json[key] ?? null;
      const value = element(context, given, key);
      if (out === undefined) {
        if (value === given) continue;
        out = {};
        for (const before of keys.slice(0, i)) put(out, before, json[before]);
      }
      put(out, key, value);
    }
    context.path.length -= 2;
    if (out === undefined) return json;
    keepSorted(out, keys);
    return out;
  };
}

/** Go's jsonpb reads a key as a JSON number of Go's integer type: no other text of the same number. */
function checkKey(context: Context, keyType: ScalarType & 'uint32', key: string): void {
  const keyed = decodeScalar(keyType, key);
  const expected = 'expected' in keyed ? keyed.expected : 'plain digits, without leading zeros';
  if ('expected' in keyed || !PLAIN_DIGITS.test(key)) {
    report(context, `the key must be ${expected}`, pathOf(context, key));
  }
}

const PLAIN_DIGITS = /^(0|[1-9]\d*)$/;

/** Of a list or a map, where null is no absence. */
function elementReader(type: FieldType, read: Read): Read {
  if (type === 'value') return read;
  return (context, json, at) => {
    if (json !== null) return read(context, json, at);
    return context.skipNull ? undefined : report(context, NULL_REFUSED, pathOf(context, at));
  };
}

/** The frequent ones at once; what they do not take may still be right in another form. */
function scalarReader(type: Exclude<ScalarType, 'any'>): Read {
  const any: Read = (context, json, at) => {
    const decoded = decodeScalar(type, json);
    return 'value' in decoded ? decoded.value : mismatch(context, (decoded as Mismatch).expected, json, at);
  };
  switch (type) {
    case 'string':
    case 'intOrString':
      return (context, json, at) => (typeof json === 'string' ? json : any(context, json, at));
    case 'bool':
      return (context, json, at) => (typeof json === 'boolean' ? json : any(context, json, at));
    case 'uint32':
    case 'int32':
      return (context, json, at) =>
        typeof json === 'number' && json > 0 && (json | 0) === json ? json : any(context, json, at);
    case 'value':
      return (_context, json) => json;
    default:
      return any;
  }
}

const INTEGERS: ReadonlySet<ScalarType> = new Set(['int32', 'uint32', 'int64', 'uint64']);
const FLOATS: ReadonlySet<ScalarType> = new Set(['float', 'double']);

/** Narrower than `read`: accepts JSON numbers only. */
function numberReader(expected: string, read: Read): Read {
  return (context, json, at) =>
    typeof json === 'string' ? mismatch(context, expected, json, at) : read(context, json, at);
}

function enumReader(compiler: Compiler, type: string): Read {
  const numbers = compiler.schema.enums[type];
  assert(numbers !== undefined, `no enum ${type} in the schema`);
  const known = new Set(Object.keys(numbers));
  const names = new Map<number, string>();
  for (const [name, number] of Object.entries(numbers)) if (!names.has(number)) names.set(number, name);
  return (context, json, at) => {
    if (typeof json === 'string' && known.has(json)) return json;
    const name = typeof json === 'number' ? names.get(json) : undefined;
    return name ?? mismatch(context, `one of ${[...known].join(', ')}`, json, at);
  };
}

/**
 * protojson's form of google.protobuf.Any. A well-known type is written as its own JSON under `value`; it is not
 * checked here.
 */
function anyReader(compiler: Compiler): Read {
  return (context, json, at) => {
    if (!isObject(json)) return mismatch(context, 'an object with @type', json, at);
    const { '@type': url, ...rest } = json;
    const urlPath = (): string => join(pathOf(context, at), '@type');
    if (typeof url !== 'string') return report(context, 'is missing: expected the name of a message', urlPath());
    const name = url.slice(url.lastIndexOf('/') + 1);
    const message = compiler.messages.get(name);
    if (message !== undefined) readMessage(compiler, message, context, rest, at);
    else if (context.opaque?.(name) !== true) {
      report(context, `${show(url)} names no message that is known`, urlPath());
    }
    return json;
  };
}

function report(context: Context, message: string, path: string): undefined {
  if (context.problems.length < PROBLEMS_MAX) context.problems.push(problem(path, message));
  else {
    context.problems.push(problem('', 'there are more problems'));
    throw enoughProblems;
  }
  return undefined;
}

function mismatch(context: Context, expected: string, found: Json, at: Segment): undefined {
  return report(context, `expected ${expected}, found ${show(found)}`, pathOf(context, at));
}

function pathOf(context: Context, at: Segment): string {
  return pathText([...context.path, at]);
}

/** Of a member with any name, brackets too. */
function memberPath(context: Context, key: string): string {
  return join(pathText(context.path), key);
}

function pathText(segments: readonly Segment[]): string {
  let path = '';
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i]!;
    if (segment === KEYED) path += `[${segments[++i]}]`;
    else path = typeof segment === 'number' ? `${path}[${segment}]` : join(path, segment);
  }
  return path;
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function show(json: Json): string {
  if (json === null) return 'null';
  if (typeof json === 'object') return isArray(json) ? 'a list' : 'an object';
  if (typeof json !== 'string') return `${json}`;
  const text = json.length > SHOWN_LENGTH_MAX ? `${json.slice(0, SHOWN_LENGTH_MAX)}…` : json;
  return `the string ${JSON.stringify(text)}`;
}

function isArray(json: Json | JsonObject): json is readonly Json[] {
  return Array.isArray(json);
}
