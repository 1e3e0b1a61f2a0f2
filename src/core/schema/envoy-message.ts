// A patch's JSON, found sound by envoy.ts, as the message that generators make: enums are numbers, a Duration is
// {seconds, nanos}, a wrapper {value}, bytes are bytes, an Any is {'@type', ...fields}, Struct and Value are JSON.
//
// A field with its default value is absent, unless protobuf tells it from an absent one (a member of a oneof). Of the
// members of a oneof the last in the order of the .proto file counts, as golang/protobuf jsonpb decodes them. The
// result is total over sound JSON but for an Any of a type without a known schema, which makes the whole undefined.

import { bytesOfBase64 } from '../base/base64.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { parseTimestamp } from '../base/time.ts';
import { type EnvoyField, envoyEnum, envoyType } from './envoy-types.ts';
import { decodeScalar } from './scalars.ts';

/** A message as generators make them. */
export type EnvoyMessage = Readonly<Record<string, unknown>>;

const MS_PER_SECOND = 1_000;
const WRAPPED = /^google\.protobuf\.(Bool|String|Bytes|Float|Double|U?Int(?:32|64))Value$/;

interface Reading {
  /** An Any holds a message without a schema. */
  unknown: boolean;
}

/** undefined: its content is not known. */
export function envoyMessage(type: string, json: JsonObject): EnvoyMessage | undefined {
  const reading: Reading = { unknown: false };
  const message = messageOf(reading, type, json);
  return reading.unknown ? undefined : message;
}

function messageOf(reading: Reading, name: string, json: Json): EnvoyMessage {
  const type = envoyType(name);
  if (type === undefined || !isObject(json)) {
    reading.unknown = true;
    return {};
  }
  const out: Record<string, unknown> = {};
  const chosen = new Map<number, string>();
  for (const field of type.fields.values()) {
    const given = json[field.name] ?? json[field.protoName];
    if (given === undefined || (given === null && field.type !== 'value')) continue;
    const value = fieldOf(reading, field, given);
    if (value === undefined) continue;
    if (field.oneof === undefined) {
      if (isDefault(field, value)) continue;
    } else {
      const other = chosen.get(field.oneof);
      if (other !== undefined) delete out[other];
      chosen.set(field.oneof, field.name);
    }
    out[field.name] = value;
  }
  return out;
}

/** A scalar without presence that is the same as absent; an empty list or map. */
function isDefault({ type, repeated, map, wrapper }: EnvoyField, value: unknown): boolean {
  if (repeated) return (value as readonly unknown[]).length === 0;
  if (map) return Object.keys(value as object).length === 0;
  if (wrapper) return false;
  if (typeof type === 'object') return 'enum' in type && value === 0;
  return isDefaultScalar(value);
}

/** The value that a scalar field without presence cannot be told from an absent one by. */
export function isDefaultScalar(value: unknown): boolean {
  return value === '' || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0);
}

function fieldOf(reading: Reading, field: EnvoyField, json: Json): unknown {
  if (field.map) return mapOf(reading, field, isObject(json) ? json : {});
  if (!field.repeated) return elementOf(reading, field, json);
  return (Array.isArray(json) ? (json as readonly Json[]) : [])
    .map(one => (one === null && field.type !== 'value' ? undefined : elementOf(reading, field, one)))
    .filter(one => one !== undefined);
}

function mapOf(reading: Reading, field: EnvoyField, json: JsonObject): EnvoyMessage {
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(json)) {
    const one = json[key];
    const value = one === undefined || one === null ? undefined : elementOf(reading, field, one);
    if (value === undefined) continue;
    // An assignment to this one would change the prototype.
    if (key === '__proto__') {
      Object.defineProperty(out, key, { value, writable: true, enumerable: true, configurable: true });
    } else out[key] = value;
  }
  return out;
}

function elementOf(reading: Reading, { type, wrapper }: EnvoyField, json: Json): unknown {
  if (typeof type === 'object') {
    if ('message' in type) return messageOf(reading, type.message, json);
    return typeof json === 'string' ? envoyEnum(type.enum)[json] : json;
  }
  if (type === 'any') return anyOf(reading, json);
  const value = scalarOf(type, json);
  return wrapper && value !== undefined ? { value } : value;
}

function scalarOf(type: Parameters<typeof decodeScalar>[0], json: Json): unknown {
  const decoded = decodeScalar(type, json);
  if (!('value' in decoded)) return undefined;
  const { value } = decoded;
  if (type === 'bytes') return bytesOfBase64(value as string);
  return type === 'timestamp' ? timestampOf(value as string) : value;
}

function timestampOf(text: string): EnvoyMessage | undefined {
  const ms = parseTimestamp(text);
  if (ms === undefined) return undefined;
  const seconds = Math.floor(ms / MS_PER_SECOND);
  const fraction = /\.(\d{1,9})/.exec(text)?.[1];
  return { seconds, nanos: fraction === undefined ? 0 : Number(fraction.padEnd(9, '0')) };
}

function anyOf(reading: Reading, json: Json): EnvoyMessage | undefined {
  if (!isObject(json)) return undefined;
  const { '@type': url, ...rest } = json;
  if (typeof url !== 'string') return undefined;
  const name = url.slice(url.lastIndexOf('/') + 1);
  return { '@type': url, ...(wellKnown(reading, name, rest) ?? messageOf(reading, name, rest)) };
}

/** protojson writes the types with a form of their own under `value`; undefined for others. */
function wellKnown(reading: Reading, name: string, { value = null }: JsonObject): EnvoyMessage | undefined {
  switch (name) {
    case 'google.protobuf.Struct':
      return { value: isObject(value) ? value : {} };
    case 'google.protobuf.Value':
      return { value };
    case 'google.protobuf.ListValue':
      return { value: Array.isArray(value) ? (value as Json) : [] };
    case 'google.protobuf.Any':
      return { value: anyOf(reading, value) ?? { '@type': '' } };
    case 'google.protobuf.Empty':
      return {};
    case 'google.protobuf.Duration':
      return (scalarOf('duration', value) ?? {}) as EnvoyMessage;
    case 'google.protobuf.Timestamp':
      return (scalarOf('timestamp', value) ?? {}) as EnvoyMessage;
    case 'google.protobuf.FieldMask':
      return { paths: typeof value === 'string' && value !== '' ? value.split(',') : [] };
    default: {
      const wrapped = WRAPPED.exec(name)?.[1];
      if (wrapped === undefined || value === null) return wrapped === undefined ? undefined : {};
      const content = scalarOf(wrapped.toLowerCase() as 'bool', value);
      return content === undefined ? {} : { value: content };
    }
  }
}
