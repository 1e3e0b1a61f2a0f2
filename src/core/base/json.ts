// JSON as data: the shape of every payload in the journal, and its one canonical text.
//
// Two values are equal exactly when their canonical texts are: object keys are sorted by UTF-16 code unit, members that
// are undefined are left out. Hashes, interning and "did it change" all use this text and nothing else.

import { keptKeys, keysOf, sortedKeysOf, WIDE_MIN } from './keys.ts';
import { atOnce, MEMBERS_PER_STEP, type Steps } from './steps.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The canonical text: sorted keys, no blanks, undefined members omitted. Numbers as ECMAScript writes them. */
export function canonicalJson(value: Json | undefined): string {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'number':
      return Number.isFinite(value) ? `${value}` : 'null';
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : isArray(value) ? arrayText(value) : objectText(value);
    default:
      return 'null';
  }
}

/** Whether the canonical texts are the same, without writing them. */
export function jsonEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) {
    return Number.isNaN(a) && Number.isNaN(b);
  }
  if (isArray(a)) {
    if (!isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!jsonEqual(a[i], b[i])) return false;
    return true;
  }
  return !isArray(b) && membersEqual(a, b);
}

function arrayText(items: readonly Json[]): string {
  if (items.length === 0) return '[]';
  // A text that grows by tens of thousands of pieces is a deep tree, which is made flat later.
  if (items.length >= WIDE_MIN) return `[${items.map(item => canonicalJson(item)).join(',')}]`;
  let text = '[';
  for (let i = 0; i < items.length; i++) text += i === 0 ? canonicalJson(items[i]) : `,${canonicalJson(items[i])}`;
  return `${text}]`;
}

function objectText(value: JsonObject): string {
  const keys = sortedKeysOf(value);
  if (keys.length >= WIDE_MIN) return atOnce(canonicalSteps(value, keys));
  let text = '{';
  for (const key of keys) {
    const member = value[key];
    if (member === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${quoted(key)}:${canonicalJson(member)}`;
  }
  return `${text}}`;
}

/** `canonicalJson` in steps, for objects of tens of thousands of members. */
export function* canonicalSteps(value: JsonObject, keys = sortedKeysOf(value)): Steps<string> {
  const members: string[] = [];
  for (let i = 0; i < keys.length; i++) {
    if (i > 0 && i % MEMBERS_PER_STEP === 0) yield;
    const member = value[keys[i]!];
    if (member !== undefined) members.push(`${quoted(keys[i]!)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/**
 * Text that JSON writes as it is: no quotes, backslashes, control characters or surrogates, of which the lone ones are
 * escaped.
 */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function membersEqual(a: JsonObject, b: JsonObject): boolean {
  const keys = keptKeys(a);
  if (keys !== undefined) return wideEqual(a, b, keys);
  let members = 0;
  // Enumeration with `in` allocates no list of keys; inherited members are skipped.
  for (const key in a) {
    const member = a[key];
    if (member === undefined || !Object.hasOwn(a, key)) continue;
    const other = b[key];
    if (other === undefined || !Object.hasOwn(b, key)) return false;
    if (member !== other && !jsonEqual(member, other)) return false;
    members++;
  }
  for (const key in b) if (b[key] !== undefined && Object.hasOwn(b, key)) members--;
  return members === 0;
}

/** `keys`: of `a`. A look at a member of a wide object costs too much to ask for it twice. */
function wideEqual(a: JsonObject, b: JsonObject, keys: readonly string[]): boolean {
  let members = 0;
  for (const key of keys) {
    const member = a[key];
    if (member === undefined) continue;
    const other = b[key];
    // Of what is inherited only a prototype may be equal.
    if (member !== other && !(jsonEqual(member, other) && Object.hasOwn(b, key))) return false;
    members++;
  }
  const others = keysOf(b);
  if (others.length === members) return true;
  for (const key of others) if (b[key] !== undefined) members--;
  return members === 0;
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
