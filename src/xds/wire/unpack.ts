// The reverse of pack.ts: decoded protobufjs messages to the form that generators make. Any are unpacked if the bundle
// has the type, Struct is plain JSON, 64-bit integers are numbers, and only fields that were on the wire are present.
// Not on the hot path: tests, debug pages, patches.

import type { Json } from '../../core/base/json.ts';
import { emptyAny, typeNameOf } from '../proto/any.ts';
import { type Field, findType, isMap, messageTypeOf, nameOf, type Plain, type Type } from './registry.ts';
import { ANY, BOXED, LIST_VALUE, listJson, STRUCT, structJson, VALUE, valueJson } from './well-known.ts';

/** Throws if the bytes are not a message of the type. */
export function decodeBytes(type: Type, bytes: Uint8Array): unknown {
  return unpack(type, type.decode(bytes) as unknown as Plain);
}

/** Converts a message that protobufjs decoded or read from protojson. */
export function unpack(type: Type, message: Plain): unknown {
  switch (nameOf(type)) {
    case ANY:
      return unpackAny(message);
    case STRUCT:
      return structJson(message);
    case VALUE:
      return valueJson(message);
    case LIST_VALUE:
      return listJson(message);
    default:
      return unpackFields(type, message);
  }
}

function unpackFields(type: Type, message: Plain): Plain {
  const out: Record<string, unknown> = {};
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(message, field.name)) continue;
    const value = message[field.name];
    if (value !== undefined && value !== null && !isEmpty(field, value)) out[field.name] = unpackField(field, value);
  }
  return out;
}

/** protobufjs adds empty lists and maps to every decoded message; they are not on the wire. */
export function isEmpty(field: Field, value: unknown): boolean {
  if (isMap(field)) return Object.keys(value as Plain).length === 0;
  return field.repeated && (value as readonly unknown[]).length === 0;
}

function unpackField(field: Field, value: unknown): unknown {
  if (isMap(field)) {
    const map = value as Plain;
    return Object.fromEntries(
      Object.keys(map)
        .sort()
        .map(key => [key, unpackOne(field, map[key])]),
    );
  }
  return field.repeated
    ? (value as readonly unknown[]).map(element => unpackOne(field, element))
    : unpackOne(field, value);
}

function unpackOne(field: Field, value: unknown): unknown {
  const type = messageTypeOf(field);
  if (type !== undefined) return unpack(type, value as Plain);
  if (value instanceof Uint8Array) return new Uint8Array(value);
  return typeof value === 'object' ? Number(value) : value;
}

/** An Any of an unknown type, or whose bytes cannot be decoded, keeps the bytes as `value`. */
function unpackAny(any: Plain): Plain {
  const url = (any.typeUrl ?? '') as string;
  const bytes = (any.value ?? new Uint8Array()) as Uint8Array;
  if (url === '' && bytes.length === 0) return { ...emptyAny };
  const type = findType(typeNameOf(url));
  const kept = { '@type': url, value: new Uint8Array(bytes) };
  if (type === undefined) return kept;
  try {
    const content = decodeBytes(type, bytes);
    return BOXED.has(nameOf(type)) ? { '@type': url, value: content as Json } : { '@type': url, ...(content as Plain) };
  } catch {
    return kept;
  }
}
