// The JSON that programs write, read straight away: one object a file. It is YAML too, but the full parser of YAML
// takes a hundred times as long for it.
//
// Invariant: what is read here, the full parser reads alike. So a text counts only if its value is written as the same
// text again, spaces and line breaks apart: a repeated key, an unusual number or escape is left to the full parser.

import type { Json, JsonObject } from '../../core/base/json.ts';
import type { PlainDocument } from './plain-yaml.ts';

/** Nested deeper, it is for the full parser to say so. */
const DEPTH_MAX = 32;
const KEY_LENGTH_MAX = 200;
const PRINTABLE = /^[\x20-\x7e\n]*$/;
const TEXT_OR_SPACE = /("(?:[^"\\]|\\.)*(?:"|\\?$))|[ \n]+/g;

/** Undefined: not as plain as that, or no JSON. */
export function plainJson(text: string): readonly PlainDocument[] | undefined {
  if (!text.startsWith('{') || !PRINTABLE.test(text) || text.includes('\\u')) return undefined;
  const value = parsed(text);
  if (value === undefined || !isPlain(value, 0)) return undefined;
  return JSON.stringify(value) === text.replace(TEXT_OR_SPACE, '$1') ? [{ value, line: 1 }] : undefined;
}

function parsed(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}

function isPlain(value: Json, depth: number): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= DEPTH_MAX) return false;
  if (Array.isArray(value)) return value.every((item: Json) => isPlain(item, depth + 1));
  return Object.entries(value).every(
    ([key, member]) =>
      key.length <= KEY_LENGTH_MAX && key !== '__proto__' && key !== '<<' && isPlain(member as Json, depth + 1),
  );
}
