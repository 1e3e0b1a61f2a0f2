// Decodes one JSON value that is not a message. The rules are those of protojson (numbers may be text, integers may be
// written 1e3 or 5.0), with Go's durations as in jsonpb; see schema.ts for what each type is decoded to.

import { isObject, type Json } from '../base/json.ts';
import { trimmedEnd } from '../base/trim.ts';
import { parseDuration } from './duration.ts';
import type { ScalarType } from './schema.ts';

/** What was expected, when the value is not that. */
export interface Mismatch {
  readonly expected: string;
}
export type Decoded = { readonly value: unknown } | Mismatch;

const INT_RANGES = {
  int32: [-2_147_483_648, 2_147_483_647],
  uint32: [0, 4_294_967_295],
  // A JavaScript number holds no larger integers exactly, and no field of ours needs them.
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  uint64: [0, Number.MAX_SAFE_INTEGER],
} as const;
const FLOAT_MAX = 3.4028234663852886e38;
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const SPECIAL_FLOATS: ReadonlyMap<Json, number> = new Map<Json, number>([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export function decodeScalar(type: Exclude<ScalarType, 'any'>, json: Json): Decoded {
  switch (type) {
    case 'string':
      return typeof json === 'string' ? { value: json } : { expected: 'a string' };
    case 'bool':
      return typeof json === 'boolean' ? { value: json } : { expected: 'true or false' };
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return decodeInteger(type, json);
    case 'float':
    case 'double':
      return decodeFloat(type, json);
    case 'bytes':
      return decodeBytes(json);
    case 'duration':
      return decodeDuration(json);
    case 'timestamp':
      return typeof json === 'string' && TIMESTAMP.test(json)
        ? { value: json }
        : { expected: 'a time such as 2026-01-31T12:00:00Z' };
    case 'struct':
      return isObject(json) ? { value: json } : { expected: 'an object' };
    case 'value':
      return { value: json };
    case 'intOrString':
      return typeof json === 'string'
        ? { value: json }
        : relabel(decodeInteger('int32', json), 'an integer or a string');
  }
}

function decodeInteger(type: keyof typeof INT_RANGES, json: Json): Decoded {
  const [min, max] = INT_RANGES[type];
  const value = numberOf(json);
  if (value === undefined || !Number.isInteger(value)) return { expected: 'an integer' };
  if (value < min || value > max) return { expected: `an integer from ${min} to ${max}` };
  return { value: value === 0 ? 0 : value };
}

function decodeFloat(type: 'float' | 'double', json: Json): Decoded {
  const value = SPECIAL_FLOATS.get(json) ?? numberOf(json);
  if (value === undefined) return { expected: 'a number' };
  if (type === 'float' && Number.isFinite(value) && Math.abs(value) > FLOAT_MAX) return { expected: 'a 32-bit number' };
  return { value };
}

function numberOf(json: Json): number | undefined {
  if (typeof json === 'number') return json;
  if (typeof json !== 'string' || !NUMBER.test(json)) return undefined;
  const value = Number(json);
  return Number.isFinite(value) ? value : undefined;
}

function decodeBytes(json: Json): Decoded {
  if (typeof json !== 'string') return { expected: 'base64 text' };
  if (json.length % 4 === 0 && BASE64.test(json)) return { value: json };
  const standard = json.replaceAll('-', '+').replaceAll('_', '/');
  const digits = trimmedEnd(standard, '=');
  const padded = digits + '='.repeat((4 - (digits.length % 4)) % 4);
  const sound = BASE64.test(standard) && digits.length % 4 !== 1 && (standard === digits || standard === padded);
  return sound ? { value: padded } : { expected: 'base64 text' };
}

function decodeDuration(json: Json): Decoded {
  const value = typeof json === 'string' ? parseDuration(json) : undefined;
  return value === undefined ? { expected: 'a duration such as 5s, 100ms or 1h30m' } : { value };
}

function relabel(decoded: Decoded, expected: string): Decoded {
  return 'value' in decoded ? decoded : { expected };
}
