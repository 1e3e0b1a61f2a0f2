// Protojson of messages in the form that generators make, without encoding them first: what commands and pages show of
// a thousand clusters costs a walk over each.
//
// Invariant: the JSON equals that of the encoded and decoded message (protojson.ts), in the order of its members too
// (test/property/encode.test.ts). Which fields a type has, and how each is written, is worked out once for a type.

import protojson from 'protobufjs/ext/protojson.js';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { typeNameOf } from '../proto/any.ts';
import { encodeUnpacked } from './pack.ts';
import { hasOwnJson, reachesAny, toProtoJson } from './protojson.ts';
import {
  enumTypeOf,
  type Field,
  findType,
  isGivenAsJson,
  isMap,
  messageTypeOf,
  nameOf,
  type Plain,
  type Type,
} from './registry.ts';
import { ANY, BOXED, LIST_VALUE, STRUCT, VALUE } from './well-known.ts';
import { sortedKeys } from './write-json.ts';

type Writer = (value: unknown) => Json;

interface JsonField {
  readonly name: string;
  readonly jsonName: string;
  readonly write: Writer;
  /** Values that are not written; the field has no presence. */
  readonly isDefault: (value: unknown) => boolean;
}

const writers = new WeakMap<Type, Writer>();
const fieldsOf = new WeakMap<Type, readonly JsonField[]>();

/** `message` is unpacked, as generators make it. Throws if it is not of the type. */
export function generatedJson(type: Type, message: unknown): Json {
  return writerOf(type)(message);
}

function writerOf(type: Type): Writer {
  let writer = writers.get(type);
  if (writer === undefined) {
    writer = makeWriter(type);
    writers.set(type, writer);
  }
  return writer;
}

function makeWriter(type: Type): Writer {
  const name = nameOf(type);
  if (name === ANY) return value => anyJson(value as Plain);
  if (name === STRUCT || name === VALUE || name === LIST_VALUE) return value => sortedJson(value as Json);
  if (hasOwnJson(type)) return value => protojson.toJson(type, value as Plain) as Json;
  // Istio's API is given as JSON that may spell out defaults.
  if (isGivenAsJson(type)) return value => toProtoJson(name, encodeUnpacked(type, value as Plain));
  return value => fieldsJson(type, value as Plain);
}

function fieldsJson(type: Type, message: Plain): JsonObject {
  const json: Record<string, Json> = {};
  for (const { name, jsonName, write, isDefault } of jsonFields(type)) {
    const value = message[name];
    if (value !== undefined && value !== null && !isDefault(value)) json[jsonName] = write(value);
  }
  return json;
}

/** In the order of protojson.ts: fields that lead to an Any stand last. */
function jsonFields(type: Type): readonly JsonField[] {
  let fields = fieldsOf.get(type);
  if (fields === undefined) {
    const all = type.fieldsArray.map(field => field.resolve());
    const leads = (field: Field): boolean => {
      const of = messageTypeOf(field);
      return of !== undefined && reachesAny(of);
    };
    fields = [...all.filter(field => !leads(field)), ...all.filter(leads)].map(jsonField);
    fieldsOf.set(type, fields);
  }
  return fields;
}

function jsonField(field: Field): JsonField {
  const { name } = field;
  const jsonName = field.jsonName ?? name;
  const element = elementWriter(field);
  if (isMap(field)) {
    const write: Writer = map => mapJson(map as Plain, element);
    return { name, jsonName, write, isDefault: map => Object.values(map as Plain).every(one => one === undefined) };
  }
  if (field.repeated) {
    const write: Writer = list => (list as readonly unknown[]).map(element);
    return { name, jsonName, write, isDefault: list => (list as readonly unknown[]).length === 0 };
  }
  const hasPresence = messageTypeOf(field) !== undefined || field.hasPresence;
  return { name, jsonName, write: element, isDefault: hasPresence ? () => false : defaultTest(field) };
}

function mapJson(map: Plain, element: Writer): JsonObject {
  const json: Record<string, Json> = {};
  for (const key of sortedKeys(map)) if (map[key] !== undefined) json[key] = element(map[key]);
  return json;
}

function elementWriter(field: Field): Writer {
  const type = messageTypeOf(field);
  // Not made yet: types refer to themselves.
  if (type !== undefined) return value => writerOf(type)(value);
  const values = enumTypeOf(field)?.valuesById;
  if (values !== undefined) return value => values[value as number] ?? (value as number);
  switch (field.type) {
    case 'int64':
    case 'sint64':
    case 'sfixed64':
    case 'uint64':
    case 'fixed64':
      return value => String(value);
    case 'float':
      return value => finite(Math.fround(value as number));
    case 'double':
      return value => finite(value as number);
    case 'bytes':
      return value => Buffer.from(value as Uint8Array).toString('base64');
    default:
      return value => value as Json;
  }
}

const finite = (value: number): Json => (Number.isFinite(value) ? value : String(value));

/** As write-field.ts leaves them out. */
function defaultTest(field: Field): (value: unknown) => boolean {
  if (field.type === 'bytes') return value => (value as Uint8Array).length === 0;
  if (field.type === 'string') return value => value === '';
  if (field.type === 'bool') return value => value === false;
  const none = enumTypeOf(field) === undefined ? 0 : field.typeDefault;
  return value => value === none;
}

function anyJson(content: Plain): Json {
  const url = content['@type'] as string;
  if (url === '') return {};
  const type = findType(typeNameOf(url));
  const { value } = content;
  if (type === undefined) return { '@type': url, value: Buffer.from(value as Uint8Array).toString('base64') };
  const isBoxed = BOXED.has(nameOf(type)) || isGivenAsJson(type);
  const json = writerOf(type)(isBoxed ? value : content);
  return hasOwnJson(type) ? { '@type': url, value: json } : { '@type': url, ...(json as JsonObject) };
}

/** Members in the order in which they are encoded; those that JSON lacks are left out. */
function sortedJson(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedJson);
  if (typeof value !== 'object' || value === null) return value;
  const sorted: Record<string, Json> = {};
  for (const key of sortedKeys(value as JsonObject)) {
    const member = (value as JsonObject)[key];
    if (member !== undefined) sorted[key] = sortedJson(member);
  }
  return sorted;
}
