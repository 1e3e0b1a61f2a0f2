// Brings a message from the form that generators make (Any unpacked, Struct as JSON, maps in any order) into the form that protobufjs encodes.
//
// Which fields of a type need that is worked out once per type; a subtree that cannot hold an Any, a Struct or a map is not walked, and what
// needs no change is passed on, not copied.

import { assert } from '../../core/assert.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { typeNameOf } from '../proto/any.ts';
import { type Field, findType, isMap, loadProto, messageTypeOf, nameOf, type Plain, type Type } from './registry.ts';
import { BOXED, LIST_VALUE, listMessage, STRUCT, structMessage, VALUE, valueMessage } from './well-known.ts';

type Convert = (value: unknown) => unknown;
interface Step {
  readonly field: string;
  readonly convert: Convert;
}

const plans = new Map<Type, readonly Step[]>();
let affected: ReadonlySet<Type> | undefined;

/** `message` as protobufjs encodes it; the same object if nothing has to change. */
export function prepare(type: Type, message: Plain): Plain {
  let out: Record<string, unknown> | undefined;
  for (const { field, convert } of planOf(type)) {
    const value = message[field];
    if (value === undefined || value === null) continue;
    const converted = convert(value);
    if (converted === value) continue;
    out ??= { ...message };
    out[field] = converted;
  }
  return out ?? message;
}

export function encodePrepared(type: Type, message: Plain): Uint8Array {
  return type.encode(prepare(type, message)).finish();
}

/** The wire form of an unpacked Any: `{'@type', ...fields}`, or `{'@type', value}` for boxed types and for bytes of an unknown type. */
export function packAny(content: Plain): Plain {
  const url = content['@type'];
  assert(typeof url === 'string', 'an Any has no @type');
  if (url === '') return {};
  const type = findType(typeNameOf(url));
  if (type === undefined) {
    assert(content.value instanceof Uint8Array, `an Any of the unknown type ${url} must be given as bytes`);
    return { typeUrl: url, value: content.value };
  }
  if (!BOXED.has(nameOf(type))) return { typeUrl: url, value: encodePrepared(type, content) };
  assert('value' in content, `an Any of ${url} must have its content under \`value\``);
  return { typeUrl: url, value: type.encode(convertOne(nameOf(type), content.value)).finish() };
}

function convertOne(boxed: string, value: unknown): Plain {
  if (boxed === STRUCT) return structMessage(value as JsonObject);
  if (boxed === VALUE) return valueMessage(value as Json);
  if (boxed === LIST_VALUE) return listMessage(value as readonly Json[]);
  return packAny(value as Plain);
}

function planOf(type: Type): readonly Step[] {
  let plan = plans.get(type);
  if (plan === undefined) {
    plan = type.fieldsArray.flatMap(field => {
      const convert = fieldConvert(field);
      return convert === undefined ? [] : [{ field: field.name, convert }];
    });
    plans.set(type, plan);
  }
  return plan;
}

function fieldConvert(field: Field): Convert | undefined {
  const one = elementConvert(field);
  if (isMap(field)) return map => sortedMap(map as Plain, one);
  if (one === undefined) return undefined;
  return field.repeated ? list => convertList(list as readonly unknown[], one) : one;
}

function elementConvert(field: Field): Convert | undefined {
  const type = messageTypeOf(field);
  if (type === undefined) return undefined;
  const name = nameOf(type);
  if (BOXED.has(name)) return value => convertOne(name, value);
  return isAffected(type) ? value => prepare(type, value as Plain) : undefined;
}

/** Entries are encoded in the order of the keys; integer-like keys come first, ascending, as in every JavaScript object. */
function sortedMap(map: Plain, convert: Convert | undefined): Plain {
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(map).sort()) {
    const value = map[key];
    if (value !== undefined) entries.push([key, convert === undefined ? value : convert(value)]);
  }
  return Object.fromEntries(entries);
}

function convertList(list: readonly unknown[], convert: Convert): readonly unknown[] {
  let changed = false;
  const out = list.map(value => {
    const converted = convert(value);
    changed ||= converted !== value;
    return converted;
  });
  return changed ? out : list;
}

function isAffected(type: Type): boolean {
  affected ??= findAffected();
  return affected.has(type);
}

/** Types that have, or reach through fields, an Any, a Struct or a map: the least fixed point, found backwards from the fields that have one. */
function findAffected(): ReadonlySet<Type> {
  const holders = new Map<Type, Type[]>();
  const found = new Set<Type>();
  const queue: Type[] = [];
  const add = (type: Type): void => {
    if (found.has(type)) return;
    found.add(type);
    queue.push(type);
  };
  for (const type of allTypes(loadProto())) {
    for (const field of type.fieldsArray) {
      const of = messageTypeOf(field);
      if (isMap(field) || (of !== undefined && BOXED.has(nameOf(of)))) add(type);
      if (of !== undefined) holders.set(of, [...(holders.get(of) ?? []), type]);
    }
  }
  for (let type = queue.pop(); type !== undefined; type = queue.pop()) holders.get(type)?.forEach(add);
  return found;
}

function* allTypes(namespace: { readonly nestedArray: readonly unknown[] }): Generator<Type> {
  for (const object of namespace.nestedArray) {
    if (isType(object)) yield object;
    if (isNamespace(object)) yield* allTypes(object);
  }
}

function isType(object: unknown): object is Type {
  return typeof object === 'object' && object !== null && 'fieldsArray' in object;
}

function isNamespace(object: unknown): object is { readonly nestedArray: readonly unknown[] } {
  return typeof object === 'object' && object !== null && 'nestedArray' in object;
}
