// JSON as data: the shape of every payload in the journal, and its one canonical text.
//
// Two values are equal exactly when their canonical texts are: object keys are sorted by UTF-16 code unit, members that
// are undefined are left out. Hashes, interning and "did it change" all use this text and nothing else.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The canonical text: sorted keys, no blanks, undefined members omitted. Numbers as ECMAScript writes them. */
export function canonicalJson(value: Json | undefined): string {
  if (value === undefined) return 'null';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

export function jsonEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return canonicalJson(a) === canonicalJson(b);
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
