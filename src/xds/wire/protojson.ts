// Canonical protojson with Any expanded. protobufjs/ext/protojson converts messages; Any are converted here, because it
// throws for a type that it does not know, and Envoy's extensions and contrib filters may be unknown: those become
// {"@type", "value": base64}.

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import protojson from 'protobufjs/ext/protojson.js';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { typeNameOf } from '../proto/any.ts';
import { type Field, findType, isMap, messageTypeOf, nameOf, type Plain, type Type, typeOf } from './registry.ts';
import { isEmpty, unpack } from './unpack.ts';
import { ANY } from './well-known.ts';

const holdsAny = new Map<Type, boolean>();

/** Encoded bytes of a message to protojson. Throws if they are not a message of the type. */
export function toProtoJson(typeName: string, bytes: Uint8Array): Json {
  const type = typeOf(typeName);
  return toJson(type, type.decode(bytes) as unknown as Plain);
}

/** Protojson to the form that generators make (Any unpacked); left: its problem. */
export function fromProtoJson(typeName: string, json: Json): Either<string, object> {
  const type = typeOf(typeName);
  try {
    return right(unpack(type, protojson.fromJson(type, json) as unknown as Plain) as object);
  } catch (error) {
    return left(error instanceof Error ? error.message : String(error));
  }
}

/** A decoded message to protojson. */
export function toJson(type: Type, message: Plain): Json {
  if (nameOf(type) === ANY) return anyJson(message);
  if (!reachesAny(type)) return protojson.toJson(type, message) as Json;
  const rest: Record<string, unknown> = {};
  const expanded: [string, Json][] = [];
  for (const field of type.fieldsArray) {
    if (!Object.hasOwn(message, field.name)) continue;
    const value = message[field.name];
    const of = messageTypeOf(field);
    if (of === undefined || !reachesAny(of)) rest[field.name] = value;
    else if (value !== undefined && value !== null && !isEmpty(field, value)) {
      expanded.push([field.jsonName ?? field.name, fieldJson(field, of, value)]);
    }
  }
  return { ...(protojson.toJson(type, rest) as JsonObject), ...Object.fromEntries(expanded) };
}

function fieldJson(field: Field, of: Type, value: unknown): Json {
  if (isMap(field)) {
    return Object.fromEntries(Object.entries(value as Plain).map(([key, one]) => [key, toJson(of, one as Plain)]));
  }
  return field.repeated ? (value as readonly Plain[]).map(one => toJson(of, one)) : toJson(of, value as Plain);
}

function anyJson(any: Plain): Json {
  const url = (any.typeUrl ?? '') as string;
  const bytes = (any.value ?? new Uint8Array()) as Uint8Array;
  if (url === '' && bytes.length === 0) return {};
  const type = findType(typeNameOf(url));
  const opaque = (): Json => ({ '@type': url, value: Buffer.from(bytes).toString('base64') });
  if (type === undefined) return opaque();
  try {
    const json = toJson(type, type.decode(bytes) as unknown as Plain);
    return hasOwnJson(type) ? { '@type': url, value: json } : { '@type': url, ...(json as JsonObject) };
  } catch {
    return opaque();
  }
}

/** True for types with a special JSON form: within an Any it is under `value`. google.protobuf.Empty has none. */
export function hasOwnJson(type: Type): boolean {
  return OWN_JSON.test(nameOf(type));
}
const OWN_JSON =
  /^google\.protobuf\.(Any|Duration|Timestamp|FieldMask|Struct|Value|ListValue|(Bool|String|Bytes|Float|Double|U?Int(32|64))Value)$/;

/** Whether an Any can stand in a message of the type. */
export function reachesAny(type: Type): boolean {
  const known = holdsAny.get(type);
  if (known !== undefined) return known;
  const found = search(type, new Set());
  holdsAny.set(type, found);
  return found;
}

function search(type: Type, seen: Set<Type>): boolean {
  if (nameOf(type) === ANY) return true;
  if (seen.has(type)) return false;
  seen.add(type);
  return type.fieldsArray.some(field => {
    const of = messageTypeOf(field.resolve());
    return of !== undefined && search(of, seen);
  });
}
