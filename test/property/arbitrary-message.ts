// Random messages of any type of the bundle, in the form that generators make, found by reflection: at most one member
// of a oneof, no default values where the wire could not tell them from absence, Any of a few types that nest further.

import fc from 'fast-check';
import { emptyAny } from '../../src/xds/proto/any.ts';
import {
  enumTypeOf,
  type Field,
  isMap,
  messageTypeOf,
  nameOf,
  type Plain,
  type Type,
  typeOf,
} from '../../src/xds/wire/registry.ts';

const FIELDS_MAX = 5;
const ELEMENTS_MAX = 3;

/** What an Any of a random message may hold. */
const CONTENTS = [
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
  'envoy.extensions.filters.http.router.v3.Router',
  'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
  'envoy.extensions.filters.http.rbac.v3.RBAC',
  'envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
  'udpa.type.v1.TypedStruct',
  'google.protobuf.StringValue',
  'google.protobuf.Duration',
];

export interface MessageOptions {
  /** Also make Any of a type that the bundle does not know. */
  readonly unknownTypes?: boolean;
}

export function arbitraryMessage(name: string, depth = 3, options: MessageOptions = {}): fc.Arbitrary<Plain> {
  return messageOf(typeOf(name), depth, options) as fc.Arbitrary<Plain>;
}

const json = fc.jsonValue({ maxDepth: 2 }).map(value => JSON.parse(JSON.stringify(value)) as unknown);
const struct = fc.dictionary(fc.string(), json, { maxKeys: 3 });

function messageOf(type: Type, depth: number, options: MessageOptions): fc.Arbitrary<unknown> {
  switch (nameOf(type)) {
    case 'google.protobuf.Any':
      return anyOf(depth, options);
    case 'google.protobuf.Struct':
      return struct;
    case 'google.protobuf.Value':
      return json;
    case 'google.protobuf.ListValue':
      return fc.array(json, { maxLength: 3 });
    case 'google.protobuf.Duration':
    case 'google.protobuf.Timestamp':
      return fc.record({ seconds: fc.integer({ min: 1, max: 1e10 }), nanos: fc.integer({ min: 1, max: 999_999_999 }) });
    case 'google.protobuf.FieldMask':
      return fc.record({ paths: fc.array(fc.constantFrom('a', 'b_c', 'd.e_f'), { minLength: 1 }) });
    default:
      return fieldsOf(type, depth, options);
  }
}

function fieldsOf(type: Type, depth: number, options: MessageOptions): fc.Arbitrary<Plain> {
  const usable = type.fieldsArray.filter(field => depth > 0 || messageTypeOf(field) === undefined);
  return fc.shuffledSubarray(usable, { maxLength: Math.min(FIELDS_MAX, usable.length) }).chain(chosen => {
    const groups = new Set<string>();
    const entries = chosen.flatMap((field): [string, fc.Arbitrary<unknown>][] => {
      const group = field.partOf?.name;
      if (group !== undefined && groups.has(group)) return [];
      if (group !== undefined) groups.add(group);
      return [[field.name, fieldOf(field, depth, options)]];
    });
    return fc.record(Object.fromEntries(entries));
  });
}

function fieldOf(field: Field, depth: number, options: MessageOptions): fc.Arbitrary<unknown> {
  if (isMap(field)) {
    const key = 'keyType' in field && field.keyType === 'string' ? fc.string() : fc.nat().map(String);
    return fc.dictionary(key, oneOf(field, depth, options, false), { minKeys: 1, maxKeys: ELEMENTS_MAX });
  }
  if (field.repeated) {
    return fc.array(oneOf(field, depth, options, false), { minLength: 1, maxLength: ELEMENTS_MAX });
  }
  return oneOf(field, depth, options, !field.hasPresence);
}

function oneOf(field: Field, depth: number, options: MessageOptions, notDefault: boolean): fc.Arbitrary<unknown> {
  const type = messageTypeOf(field);
  if (type !== undefined) return messageOf(type, depth - 1, options);
  const enumeration = enumTypeOf(field);
  const value: fc.Arbitrary<unknown> =
    enumeration === undefined ? scalarOf(field.type) : fc.constantFrom(...Object.values(enumeration.values));
  return notDefault ? value.filter(isNotDefault) : value;
}

function isNotDefault(value: unknown): boolean {
  return value instanceof Uint8Array ? value.length > 0 : value !== 0 && value !== '' && value !== false;
}

function scalarOf(type: string): fc.Arbitrary<unknown> {
  const positiveZero = (value: number): number => (value === 0 ? 0 : value);
  switch (type) {
    case 'string':
      return fc.string({ unit: 'grapheme', maxLength: 5 });
    case 'bool':
      return fc.boolean();
    case 'bytes':
      return fc.uint8Array({ maxLength: 5 });
    case 'float':
      return fc.float({ noNaN: true }).map(positiveZero);
    case 'double':
      return fc.double({ noNaN: true }).map(positiveZero);
    case 'uint32':
    case 'fixed32':
      return fc.integer({ min: 0, max: 2 ** 32 - 1 });
    case 'uint64':
    case 'fixed64':
      return fc.maxSafeNat();
    case 'int64':
    case 'sint64':
    case 'sfixed64':
      return fc.maxSafeInteger();
    default:
      return fc.integer();
  }
}

function anyOf(depth: number, options: MessageOptions): fc.Arbitrary<unknown> {
  const known = fc.constantFrom(...CONTENTS).chain(name =>
    arbitraryMessage(name, depth - 1, options).map(message => ({
      '@type': `type.googleapis.com/${name}`,
      ...message,
    })),
  );
  const boxed = struct.map(value => ({ '@type': 'type.googleapis.com/google.protobuf.Struct', value }));
  const unknown = fc.uint8Array().map(value => ({ '@type': 'type.googleapis.com/some.unknown.Type', value }));
  const empty = fc.constant({ ...emptyAny });
  return options.unknownTypes ? fc.oneof(known, boxed, empty, unknown) : fc.oneof(known, boxed, empty);
}
