// The decoded form of a message of Istio's API (istio-types.gen.ts) as canonical protojson for encoding. The
// two differ in durations and in numbers that JSON lacks; everything else is as it stands. Members that the message
// does not have, such as a status beside a spec, are left out.

import { canonicalJson, type Json, type JsonObject } from '../base/json.ts';
import { trimmedEnd } from '../base/trim.ts';
import type { Duration } from './duration.ts';
import { istioSchema } from './istio-schema.gen.ts';
import type { IstioTypeMap } from './istio-types.gen.ts';
import type { FieldType, SchemaField } from './schema.ts';

/** Equal values give equal text: members in the order of the schema, those of free JSON by name. */
export function istioProtoJson(message: keyof IstioTypeMap, value: object): JsonObject {
  return messageJson(message, value as Readonly<Record<string, unknown>>);
}

function messageJson(message: string, value: Readonly<Record<string, unknown>>): JsonObject {
  const json: { [name: string]: Json } = {};
  for (const field of istioSchema.messages[message] ?? []) {
    const member = value[field.name];
    if (member !== undefined && member !== null) json[field.name] = fieldJson(field, member);
  }
  return json;
}

function fieldJson({ type, repeated, map }: SchemaField, value: unknown): Json {
  if (repeated) return (value as readonly unknown[]).map(one => valueJson(type, one));
  if (map === undefined) return valueJson(type, value);
  return Object.fromEntries(Object.entries(value as object).map(([key, one]) => [key, valueJson(type, one)]));
}

function valueJson(type: FieldType, value: unknown): Json {
  if (typeof type === 'object') {
    return 'message' in type ? messageJson(type.message, value as Readonly<Record<string, unknown>>) : (value as Json);
  }
  if (type === 'duration') return durationText(value as Duration);
  if (type === 'struct' || type === 'value' || type === 'any') return JSON.parse(canonicalJson(value as Json)) as Json;
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : (value as Json);
}

const NANO_DIGITS = 9;

function durationText({ seconds = 0, nanos = 0 }: Duration): string {
  const fraction = trimmedEnd(String(Math.abs(nanos)).padStart(NANO_DIGITS, '0'), '0');
  const sign = seconds < 0 || nanos < 0 ? '-' : '';
  return `${sign}${Math.abs(seconds)}${fraction === '' ? '' : `.${fraction}`}s`;
}
