// Equality of immutable plain data by content, to compare derived values before and after a change.

import { isObject } from './json.ts';

/** Members that are undefined count as absent. */
export function sameContent(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => sameContent(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  for (const key of Object.keys(a)) if (!sameContent(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (a[key] === undefined && b[key] !== undefined) return false;
  return true;
}
