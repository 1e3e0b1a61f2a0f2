// Merges a patch into a generated message as protobuf merges messages, with Istio's one exception: a Duration is
// replaced, not merged field by field. Neither argument changes, because generated parts are shared by many resources
// and patches by many proxies; what a merge leaves alone stays the identical object.
// Source: Istio pkg/proto/merge/merge.go (Merge), pilot/pkg/networking/util/util.go (MergeAnyWithAny).
//
// "Set" is what protobuf calls set: the default of a scalar without presence sets nothing, also inside of a wrapper, so
// neither can be reset by a merge.

import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';
import { isDefaultScalar } from '../../../core/schema/envoy-message.ts';
import { type EnvoyField, type EnvoyType, envoyType } from '../../../core/schema/envoy-types.ts';
import { type AnyMessage, typeNameOf } from '../../proto/any.ts';

type Plain = Readonly<Record<string, unknown>>;

/** `type`: the full name of the message that both are. The first argument itself if the second sets nothing. */
export function mergeMessage<T extends object>(type: string, into: T, patch: object): T {
  const found = envoyType(type);
  // Well-known types stand in fields that know them.
  if (found === undefined) return patch as T;
  return merged(found, into as Plain, patch as Plain) as unknown as T;
}

/** The content of both, merged; undefined: they are of different types, or of one without a schema. */
export function mergeAny(into: AnyMessage, patch: AnyMessage): AnyMessage | undefined {
  const name = typeNameOf(into['@type']);
  const type = envoyType(name);
  if (type === undefined || name !== typeNameOf(patch['@type'])) return undefined;
  return merged(type, into as unknown as Plain, patch as unknown as Plain) as unknown as AnyMessage;
}

function merged(type: EnvoyType, into: Plain, patch: Plain): Plain {
  let out: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(patch)) {
    const field = type.fields.get(name);
    if (field === undefined || value === undefined) continue;
    const before = into[name];
    const after = mergedField(field, before, value);
    if (after === before) continue;
    out ??= { ...into };
    if (field.oneof !== undefined && before === undefined) {
      for (const other of type.fields.values()) if (other.oneof === field.oneof) delete out[other.name];
    }
    out[name] = after;
  }
  return out ?? into;
}

function mergedField(field: EnvoyField, before: unknown, value: unknown): unknown {
  if (field.map)
    return Object.keys(value as object).length === 0 ? before : { ...(before as object), ...(value as object) };
  if (field.repeated) return appended(before as readonly unknown[] | undefined, value as readonly unknown[]);
  if (before === undefined) return isUnset(field, value) ? undefined : value;
  if (field.wrapper) return mergedWrapper(before as Plain, value as Plain);
  if (typeof field.type === 'object') {
    if ('message' in field.type) return mergeMessage(field.type.message, before as object, value as object);
    return isUnset(field, value) ? before : value;
  }
  switch (field.type) {
    case 'any':
      return (value as AnyMessage)['@type'] === '' ? before : value;
    case 'struct':
      return mergedStruct(before as JsonObject, value as JsonObject);
    case 'value':
      return mergedValue(before as Json, value as Json);
    case 'timestamp':
      return { ...(before as object), ...setMembers(value as Plain) };
    default:
      return isUnset(field, value) ? before : value;
  }
}

/** The value of a scalar or enum without presence that is the same as none. */
function isUnset({ type, oneof, wrapper }: EnvoyField, value: unknown): boolean {
  if (oneof !== undefined || wrapper || type === 'value') return false;
  return (typeof type !== 'object' || 'enum' in type) && isDefaultScalar(value);
}

function appended(before: readonly unknown[] | undefined, more: readonly unknown[]): readonly unknown[] | undefined {
  if (more.length === 0) return before;
  return before === undefined || before.length === 0 ? more : [...before, ...more];
}

function mergedWrapper(before: Plain, patch: Plain): Plain {
  const { value } = patch;
  return value === undefined || isDefaultScalar(value) || value === before.value ? before : { ...before, value };
}

/** A Struct is a message with a map: by key of the first level. */
function mergedStruct(before: JsonObject, patch: JsonObject): JsonObject {
  return Object.keys(patch).length === 0 ? before : { ...before, ...patch };
}

/** A Value is a oneof: members of one kind that are messages are merged, others take its place. */
function mergedValue(before: Json, patch: Json): Json {
  if (isObject(before) && isObject(patch)) return mergedStruct(before, patch);
  return Array.isArray(before) && Array.isArray(patch) ? [...(before as Json[]), ...(patch as Json[])] : patch;
}

function setMembers(message: Plain): Plain {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => !isDefaultScalar(value)));
}
