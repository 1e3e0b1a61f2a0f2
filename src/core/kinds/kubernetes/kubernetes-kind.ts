// What the kinds of Kubernetes have in common: a hand-written schema that names only what Periplus uses. The same
// schema decodes (unknown fields are ignored, wrong types are problems) and projects: a field that it does not name is
// no change.
//
// Defaults that the API server fills in are filled in here too, so that an object in a file means what it means in a
// cluster.

import { type Either, isLeft, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Problem } from '../../base/problem.ts';
import type { Steps } from '../../base/steps.ts';
import type { RawObject } from '../../event.ts';
import type { KindName, KindSpecs } from '../../model/kind.ts';
import { makeDecoder } from '../../schema/decode.ts';
import type { Schema, SchemaField, SchemaMessage } from '../../schema/schema.ts';
import { type Declaration, declared, decodedBy, type KindDefinition } from '../definition.ts';
import { projectMeta } from '../meta.ts';
import { checked, type Report } from '../report.ts';

export type KubernetesKind<K extends KindName, D> = Declaration<K> & {
  readonly clusterScoped?: boolean;
  /** The message `Object` is the whole object without metadata; the others are parts of it. */
  readonly messages: Readonly<Record<string, SchemaMessage>>;
  /** Members of metadata that matter for this kind beyond what every object keeps. */
  readonly metadata?: SchemaMessage;
  /** Of those that `ObjectMeta` has. */
  readonly keepMeta?: readonly string[];
  /** Rules on the object as decoded, before defaults. */
  readonly rules?: (decoded: D, report: Report) => void;
  /** From the decoded shape to the flat one, with defaults; in steps if it can be large. */
  readonly flatten: (decoded: D) => KindSpecs[K] | Steps<KindSpecs[K]>;
  /** Narrows the projection of the schema, e.g. to the conditions that matter. */
  readonly narrow?: (projection: JsonObject) => JsonObject;
  readonly trim?: true;
};

/** `D` is the type of the decoded message `Object`. */
export function kubernetesKind<K extends KindName, D>(from: KubernetesKind<K, D>): KindDefinition<K> {
  const { Object: members = [], ...messages } = from.messages;
  const whole: SchemaMessage = [{ name: 'metadata', type: { message: 'Metadata' } }, ...members];
  const schema: Schema = {
    messages: { ...messages, Metadata: from.metadata ?? [], Object: whole },
    enums: {},
    strictNumbers: true,
  };
  const decode = makeDecoder<{ readonly Object: D }>(schema);
  function* decoding(raw: RawObject): Steps<Either<NonEmptyArray<Problem>, KindSpecs[K]>> {
    const decoded = decode('Object', raw, '', { ignoreUnknown: true });
    if (isLeft(decoded)) return decoded;
    yield;
    const sound = checked(decoded.right, (value, report) => from.rules?.(value, report));
    if (isLeft(sound)) return sound;
    yield;
    const flat = from.flatten(sound.right);
    return right(isSteps(flat) ? yield* flat : flat);
  }
  return {
    ...declared(from),
    clusterScoped: from.clusterScoped ?? false,
    store: 'kubernetes',
    ...decodedBy(decoding),
    project: raw => {
      const projection = projectObject(from, raw);
      return from.narrow?.(projection) ?? projection;
    },
    ...(from.trim === undefined ? {} : { trim: from.trim }),
    ...(from.keepMeta === undefined ? {} : { keepMeta: from.keepMeta }),
    ...(members.length === 0 ? { metadataOnly: true } : {}),
  };
}

function isSteps<T extends object>(value: T | Steps<T>): value is Steps<T> {
  return Symbol.iterator in value && 'next' in value;
}

function projectObject<K extends KindName, D>(from: KubernetesKind<K, D>, raw: RawObject): JsonObject {
  const projection: { [key: string]: Json | undefined } = {};
  for (const key of ['apiVersion', 'kind']) if (raw[key] !== undefined) projection[key] = raw[key];
  const { metadata, keepMeta = [] } = from;
  if (raw.metadata !== undefined) projection.metadata = projectMeta(raw.metadata, [...namesOf(metadata), ...keepMeta]);
  return { ...projection, ...pruneObject(from.messages, from.messages.Object ?? [], raw) };
}

/**
 * The members that the schema names. The recursion is as deep as the schema; a value of another type is kept unchanged.
 */
function pruneObject(
  messages: Readonly<Record<string, SchemaMessage>>,
  fields: SchemaMessage,
  json: JsonObject,
): JsonObject {
  const kept: { [key: string]: Json | undefined } = {};
  for (const field of fields) {
    const value = json[field.name];
    if (value !== undefined) kept[field.name] = pruneField(messages, field, value);
  }
  return kept;
}

function pruneField(messages: Readonly<Record<string, SchemaMessage>>, field: SchemaField, value: Json): Json {
  if (typeof field.type !== 'object' || !('message' in field.type)) return value;
  const fields = messages[field.type.message] ?? [];
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map(element =>
      isObject(element) ? pruneObject(messages, fields, element) : element,
    );
  }
  return isObject(value) ? pruneObject(messages, fields, value) : value;
}

function namesOf(fields: SchemaMessage | undefined): readonly string[] {
  return (fields ?? []).map(field => field.name);
}
