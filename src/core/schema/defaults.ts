// A value as the API server stores it by a CRD's schema: defaults filled in, members that the schema does not name left
// out, nulls that may not be there taken for absent. So an object in a file has the same meaning as in a cluster, and
// an object from a cluster, which already has its defaults, is unchanged. (Kubernetes, "Extend the API with
// CustomResourceDefinitions": defaulting, pruning and nullable)

import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { isInOrder, objectOf, sortedKeysOf } from '../base/keys.ts';
import { type Constraint, isTooLarge } from './constraints.ts';

/**
 * Total for any JSON: a value of another type than the schema's, or with more elements than it allows, is kept
 * unchanged, and the constraints report it.
 */
export function asStored(constraint: Constraint, json: Json): Json {
  if (isTooLarge(constraint, json)) return json;
  if (constraint.type === 'array' && Array.isArray(json)) {
    const { items } = constraint;
    return items === undefined ? json : (json as readonly Json[]).map(element => asStored(items, element));
  }
  if (constraint.type !== 'object' || !isObject(json)) return json;
  if (constraint.values !== undefined) return storedMap(constraint.values, json);
  return constraint.properties === undefined ? json : storedObject(constraint.properties, json);
}

function storedObject(properties: Readonly<Record<string, Constraint>>, json: JsonObject): JsonObject {
  const stored: { [key: string]: Json } = {};
  for (const [name, constraint] of Object.entries(properties)) {
    const given = Object.hasOwn(json, name) ? json[name] : undefined;
    const value = given === undefined || (given === null && !constraint.nullable) ? constraint.default : given;
    if (value !== undefined) stored[name] = asStored(constraint, value);
  }
  return stored;
}

/** Sorted by key, so that equal objects are stored alike. */
function storedMap(values: Constraint, json: JsonObject): JsonObject {
  const keys = sortedKeysOf(json);
  if (isInOrder(json) && keys.every(key => json[key] !== undefined && asStored(values, json[key]) === json[key])) {
    return json;
  }
  return objectOf(keys, key => asStored(values, json[key] ?? null));
}
