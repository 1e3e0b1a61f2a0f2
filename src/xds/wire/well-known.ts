// google.protobuf.Struct, Value and ListValue as decoded messages, converted to plain JSON. write-json.ts is the
// reverse.

import type { Json, JsonObject } from '../../core/base/json.ts';
import type { Plain } from './registry.ts';

export const ANY = 'google.protobuf.Any';
export const STRUCT = 'google.protobuf.Struct';
export const VALUE = 'google.protobuf.Value';
export const LIST_VALUE = 'google.protobuf.ListValue';
/** Types that generators do not represent as an object of fields: within an Any their content is under `value`. */
export const BOXED: ReadonlySet<string> = new Set([ANY, STRUCT, VALUE, LIST_VALUE]);

export function structJson(message: Plain): JsonObject {
  const fields = (message.fields ?? {}) as Readonly<Record<string, Plain>>;
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .map(key => [key, valueJson(fields[key] ?? {})]),
  );
}

/** A Value without a kind becomes null. */
export function valueJson(message: Plain): Json {
  const has = (name: string): boolean => Object.hasOwn(message, name);
  if (has('structValue')) return structJson(message.structValue as Plain);
  if (has('listValue')) return listJson(message.listValue as Plain);
  if (has('stringValue')) return message.stringValue as string;
  if (has('numberValue')) return message.numberValue as number;
  if (has('boolValue')) return message.boolValue as boolean;
  return null;
}

export function listJson(message: Plain): readonly Json[] {
  return ((message.values ?? []) as readonly Plain[]).map(valueJson);
}
