// JSON merge patch (RFC 7386): members of the patch replace or, if null, remove; objects are merged; everything else
// replaces as a whole.

import { isObject, type Json, type JsonObject } from './json.ts';

export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, Json>();
  for (const [key, value] of Object.entries(isObject(target) ? target : {})) {
    if (value !== undefined) merged.set(key, value);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged) as JsonObject;
}
