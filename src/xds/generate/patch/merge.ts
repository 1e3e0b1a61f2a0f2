// Merges a patch into a generated message as protobuf merges messages, with Istio's one exception: a Duration is
// replaced, not merged field by field. Neither argument changes, because generated parts are shared by many resources
// and patches by many proxies; what a merge leaves alone stays the identical object. Only the maps and lists that the
// merges of one resource made themselves take in more: copied by each merge, they would cost the square of its patches.
// Source: Istio pkg/proto/merge/merge.go (Merge), pilot/pkg/networking/util/util.go (MergeAnyWithAny).
//
// "Set" is what protobuf calls set: the default of a scalar without presence sets nothing, also inside of a wrapper, so
// neither can be reset by a merge.

import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';
import { isDefaultScalar } from '../../../core/schema/envoy-message.ts';
import { type EnvoyField, type EnvoyType, envoyType } from '../../../core/schema/envoy-types.ts';
import { type AnyMessage, typeNameOf } from '../../proto/any.ts';

type Plain = Readonly<Record<string, unknown>>;

/** The maps and lists that merges into one resource have made, and that nothing else holds. */
export class Grown {
  readonly #containers = new WeakSet<object>();
  /** Members and elements that were copied into them. */
  copied = 0;

  has(container: object): boolean {
    return this.#containers.has(container);
  }

  made<T extends object>(container: T): T {
    this.#containers.add(container);
    return container;
  }
}

/** `type`: the full name of the message that both are. The first argument itself if the second sets nothing. */
export function mergeMessage<T extends object>(type: string, into: T, patch: object, grown = new Grown()): T {
  const found = envoyType(type);
  // Well-known types stand in fields that know them.
  if (found === undefined) return patch as T;
  return merged(found, into as Plain, patch as Plain, grown) as unknown as T;
}

/** The content of both, merged; undefined: they are of different types, or of one without a schema. */
export function mergeAny(into: AnyMessage, patch: AnyMessage, grown = new Grown()): AnyMessage | undefined {
  const name = typeNameOf(into['@type']);
  const type = envoyType(name);
  if (type === undefined || name !== typeNameOf(patch['@type'])) return undefined;
  return merged(type, into as unknown as Plain, patch as unknown as Plain, grown) as unknown as AnyMessage;
}

function merged(type: EnvoyType, into: Plain, patch: Plain, grown: Grown): Plain {
  let out: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(patch)) {
    const field = type.fields.get(name);
    if (field === undefined || value === undefined) continue;
    const before = into[name];
    const after = mergedField(field, before, value, grown);
    if (after === before) continue;
    out ??= { ...into };
    if (field.oneof !== undefined && before === undefined) {
      for (const other of type.fields.values()) if (other.oneof === field.oneof) delete out[other.name];
    }
    out[name] = after;
  }
  return out ?? into;
}

function mergedField(field: EnvoyField, before: unknown, value: unknown, grown: Grown): unknown {
  if (field.map) return withMembers(before as object | undefined, value as object, grown);
  if (field.repeated) return appended(before as readonly unknown[] | undefined, value as readonly unknown[], grown);
  if (before === undefined) return isUnset(field, value) ? undefined : value;
  if (field.wrapper) return mergedWrapper(before as Plain, value as Plain);
  if (typeof field.type === 'object') {
    if ('message' in field.type) return mergeMessage(field.type.message, before as object, value as object, grown);
    return isUnset(field, value) ? before : value;
  }
  switch (field.type) {
    case 'any':
      return (value as AnyMessage)['@type'] === '' ? before : value;
    case 'struct':
      // A Struct is a message with a map: by key of the first level.
      return withMembers(before as JsonObject, value as JsonObject, grown);
    case 'value':
      return mergedValue(before as Json, value as Json, grown);
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

function appended<T>(before: readonly T[] | undefined, more: readonly T[], grown: Grown): readonly T[] | undefined {
  if (more.length === 0) return before;
  if (before === undefined || before.length === 0) return more;
  grown.copied += more.length;
  if (!grown.has(before)) {
    grown.copied += before.length;
    return grown.made([...before, ...more]);
  }
  for (const one of more) (before as T[]).push(one);
  return before;
}

function withMembers<T extends object>(before: T | undefined, more: T, grown: Grown): T | undefined {
  const count = Object.keys(more).length;
  if (count === 0) return before;
  // The patch's own, which every resource without any shares: a copy for each costs their number times its size.
  if (before === undefined) return more;
  grown.copied += count;
  if (!grown.has(before)) {
    grown.copied += Object.keys(before).length;
    return grown.made({ ...before, ...more });
  }
  for (const [name, value] of Object.entries(more)) {
    // An assignment to this one would change the prototype.
    if (name !== '__proto__') (before as Record<string, unknown>)[name] = value;
    else Object.defineProperty(before, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return before;
}

function mergedWrapper(before: Plain, patch: Plain): Plain {
  const { value } = patch;
  return value === undefined || isDefaultScalar(value) || value === before.value ? before : { ...before, value };
}

/** A Value is a oneof: members of one kind that are messages are merged, others take its place. */
function mergedValue(before: Json, patch: Json, grown: Grown): Json {
  if (isObject(before) && isObject(patch)) return withMembers<JsonObject>(before, patch, grown) ?? patch;
  return Array.isArray(before) && Array.isArray(patch) ? (appended<Json>(before, patch, grown) ?? patch) : patch;
}

function setMembers(message: Plain): Plain {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => !isDefaultScalar(value)));
}
