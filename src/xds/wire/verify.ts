// Checks a message before it is encoded. protobufjs silently drops unknown names, writes 0 for an enum's name or for
// text in a numeric field, and writes every member of a oneof. For generators the compiler finds most of that; this
// check finds the rest in tests, and all of it in messages that the compiler has not seen (patches).

import { isObject } from '../../core/base/json.ts';
import { typeNameOf } from '../proto/any.ts';
import {
  enumTypeOf,
  type Field,
  findType,
  isMap,
  messageTypeOf,
  nameOf,
  type Plain,
  type Type,
  typeOf,
} from './registry.ts';
import { ANY, BOXED, LIST_VALUE, STRUCT, VALUE } from './well-known.ts';

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
const UINT32_MAX = 2 ** 32 - 1;

type Mistakes = readonly string[];
const none: Mistakes = [];

/** Mistakes as `path: what`; empty if `message` is a valid message of the type, including the content of every Any. */
export function verifyMessage(typeName: string, message: unknown): Mistakes {
  return verify(typeOf(typeName), message, '');
}

function verify(type: Type, value: unknown, path: string): Mistakes {
  switch (nameOf(type)) {
    case ANY:
      return verifyAny(value, path);
    case STRUCT:
      return isObject(value) ? verifyJson(value, path) : mistake(path, 'is not a JSON object');
    case LIST_VALUE:
      return Array.isArray(value) ? verifyJson(value, path) : mistake(path, 'is not a JSON list');
    case VALUE:
      return verifyJson(value, path);
    default:
      return isObject(value) ? verifyFields(type, value, path) : mistake(path, 'is not a message');
  }
}

function verifyFields(type: Type, message: Plain, path: string, ignored?: string): Mistakes {
  const groups = new Map<string, string>();
  return Object.entries(message).flatMap(([name, value]) => {
    if (value === undefined || name === ignored) return none;
    const at = path === '' ? name : `${path}.${name}`;
    const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
    if (field === undefined) return mistake(at, `is not a field of ${nameOf(type)}`);
    const group = field.partOf?.name;
    const other = group === undefined ? undefined : groups.get(group);
    if (group !== undefined) groups.set(group, name);
    const double = other === undefined ? none : mistake(at, `is set together with ${other} of the oneof ${group}`);
    return [...double, ...verifyField(field, value, at)];
  });
}

function verifyField(field: Field, value: unknown, path: string): Mistakes {
  if (isMap(field)) {
    if (!isObject(value)) return mistake(path, 'is not a map');
    return Object.entries(value).flatMap(([key, one]) => verifyOne(field, one, `${path}[${key}]`));
  }
  if (!field.repeated) return verifyOne(field, value, path);
  if (!Array.isArray(value)) return mistake(path, 'is not a list');
  return value.flatMap((one, i) => verifyOne(field, one, `${path}[${i}]`));
}

function verifyOne(field: Field, value: unknown, path: string): Mistakes {
  const type = messageTypeOf(field);
  if (type !== undefined) return verify(type, value, path);
  const enumeration = enumTypeOf(field);
  if (enumeration === undefined) {
    return isScalar(field.type, value) ? none : mistake(path, `is not of type ${field.type}`);
  }
  const known = typeof value === 'number' && enumeration.valuesById[value] !== undefined;
  return known ? none : mistake(path, `is not a number of ${nameOf(enumeration)}`);
}

function isScalar(type: string, value: unknown): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'float':
    case 'double':
      return typeof value === 'number';
    case 'int32':
    case 'sint32':
    case 'sfixed32':
      return Number.isInteger(value) && (value as number) >= INT32_MIN && (value as number) <= INT32_MAX;
    case 'uint32':
    case 'fixed32':
      return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= UINT32_MAX;
    case 'uint64':
    case 'fixed64':
      return Number.isSafeInteger(value) && (value as number) >= 0;
    default:
      return Number.isSafeInteger(value);
  }
}

function verifyAny(value: unknown, path: string): Mistakes {
  if (!isObject(value)) return mistake(path, 'is not an Any');
  const url = value['@type'];
  if (typeof url !== 'string') return mistake(path, 'has no @type');
  if (url === '') return Object.keys(value).length === 1 ? none : mistake(path, 'has fields and an empty @type');
  const at = `${path}<${typeNameOf(url)}>`;
  const type = findType(typeNameOf(url));
  if (type === undefined) {
    const bytes: unknown = value.value;
    return bytes instanceof Uint8Array ? none : mistake(at, 'is of an unknown type and not given as bytes');
  }
  if (!BOXED.has(nameOf(type))) return verifyFields(type, value, at, '@type');
  return 'value' in value ? verify(type, value.value, at) : mistake(at, 'has no `value`');
}

function verifyJson(value: unknown, path: string): Mistakes {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return none;
  if (typeof value === 'number') return Number.isFinite(value) ? none : mistake(path, 'is not JSON');
  if (Array.isArray(value)) return value.flatMap((one, i) => verifyJson(one, `${path}[${i}]`));
  if (!isObject(value) || value instanceof Uint8Array) return mistake(path, 'is not JSON');
  return Object.entries(value).flatMap(([key, one]) => (one === undefined ? none : verifyJson(one, `${path}[${key}]`)));
}

function mistake(path: string, what: string): Mistakes {
  return [path === '' ? `the message ${what}` : `${path}: ${what}`];
}
