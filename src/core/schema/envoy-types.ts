// The message types of Envoy as data: for decoding what users write (envoy.ts), for turning it into messages
// (envoy-message.ts) and for merging messages, which needs to know what a field is. Unpacked from envoy-schema.gen.ts
// when the first patch comes, because most meshes have none; each type when it is first asked for.

import { assert } from '../base/assert.ts';
import { envoyEnums, envoyMessages } from './envoy-schema.gen.ts';
import type { FieldType, ScalarType, Schema, SchemaEnum, SchemaField } from './schema.ts';

export interface EnvoyField {
  /** In camel case. */
  readonly name: string;
  /** As in the .proto file. */
  readonly protoName: string;
  /** A wrapper has the type of what it wraps. */
  readonly type: FieldType;
  readonly repeated: boolean;
  readonly map: boolean;
  /** The oneof of the field, counted in its message; undefined: none. */
  readonly oneof: number | undefined;
  /** google.protobuf.BoolValue and its like. */
  readonly wrapper: boolean;
  /** google.protobuf.ListValue; its type is `value`. */
  readonly listValue: boolean;
}

export interface EnvoyType {
  /** Full name. */
  readonly name: string;
  /** In the order of the .proto file, by name. */
  readonly fields: ReadonlyMap<string, EnvoyField>;
}

const texts: ReadonlyMap<string, string> = new Map(envoyMessages);
const types = new Map<string, EnvoyType>();
let enums: Readonly<Record<string, SchemaEnum>> | undefined;

/** undefined: no such message is known. The well-known types of protobuf are not among them. */
export function envoyType(name: string): EnvoyType | undefined {
  const known = types.get(name);
  if (known !== undefined) return known;
  const text = texts.get(name);
  if (text === undefined) return undefined;
  const type = { name, fields: new Map(fieldsIn(text).map(field => [field.name, field] as const)) };
  types.set(name, type);
  return type;
}

/** Names to numbers. */
export function envoyEnum(name: string): SchemaEnum {
  enums ??= unpackEnums();
  const found = enums[name];
  assert(found !== undefined, `the schema of Envoy has no enum ${name}`);
  return found;
}

/**
 * All types in the form of a decoder's schema. Of a oneof several fields may be set, as istiod's decoder takes them.
 */
export function envoySchema(): Schema {
  enums ??= unpackEnums();
  const messages = envoyMessages.map(([name, text]) => [name, fieldsIn(text).map(schemaField)] as const);
  return { messages: Object.fromEntries(messages), enums };
}

function schemaField({ name, protoName, type, repeated, map }: EnvoyField): SchemaField {
  return {
    name,
    type,
    ...(protoName === name ? {} : { protoName }),
    ...(repeated ? { repeated } : {}),
    ...(map ? { map: 'string' } : {}),
  };
}

function fieldsIn(text: string): readonly EnvoyField[] {
  return text === '' ? [] : text.split(',').map(unpackField);
}

/** `proto_name [*|KEY>]type [flags]`; scripts/proto/envoy-schema.mjs has the flags. */
function unpackField(text: string): EnvoyField {
  const [protoName = '', whole = '', flags = ''] = text.split(' ');
  const name = protoName.replace(/_(.?)/g, (_, letter: string) => letter.toUpperCase());
  const key = /^(string|uint32)>/.exec(whole)?.[1];
  const repeated = whole.startsWith('*');
  const type = unpackType(whole.slice(repeated ? 1 : key === undefined ? 0 : key.length + 1));
  const group = Number.parseInt(flags, 10);
  return {
    name,
    protoName,
    type,
    repeated,
    map: key !== undefined,
    oneof: Number.isNaN(group) ? undefined : group,
    wrapper: flags.endsWith('w'),
    listValue: flags.endsWith('l'),
  };
}

function unpackType(word: string): FieldType {
  const number = Number(word.slice(1));
  if (word.startsWith('#')) return { message: nameIn(envoyMessages, number) };
  if (word.startsWith('@')) return { enum: nameIn(envoyEnums, number) };
  return word as ScalarType;
}

function unpackEnums(): Readonly<Record<string, SchemaEnum>> {
  return Object.fromEntries(envoyEnums.map(([name, values]) => [name, unpackEnum(values)]));
}

function unpackEnum(values: string): SchemaEnum {
  const pairs = values.split(',').map((value): readonly [string, number] => {
    const [name = '', number = ''] = value.split(' ');
    return [name, Number(number)];
  });
  return Object.fromEntries(pairs);
}

function nameIn(list: readonly (readonly [string, string])[], number: number): string {
  const name = list[number]?.[0];
  assert(name !== undefined, `the schema of Envoy has no entry ${number}`);
  return name;
}
