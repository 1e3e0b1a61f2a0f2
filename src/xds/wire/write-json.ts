// google.protobuf.Struct, Value and ListValue, written from plain JSON. Invariant: members are sorted, so equal JSON
// gives equal bytes.

import { assert } from '../../core/base/assert.ts';
import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { type Fragment, MANY } from './fragments.ts';
import type { Sink } from './sink.ts';

/** Tags: field number and wire type. */
const STRUCT_FIELDS = 0x0a;
const ENTRY_KEY = 0x0a;
const ENTRY_VALUE = 0x12;
const LIST_VALUES = 0x0a;
const NULL_VALUE = 0x08;
const NUMBER_VALUE = 0x11;
const STRING_VALUE = 0x1a;
const BOOL_VALUE = 0x20;
const STRUCT_VALUE = 0x2a;
const LIST_VALUE = 0x32;
/** Nesting of JSON. */
const DEPTH_MAX = 100;
const TOO_DEEP = 'JSON is nested too deeply';
/** Sizes that the lengths of objects and lists had last time, by depth: see Sink.openFrame. */
const entryWidths = new Uint8Array(DEPTH_MAX + 1).fill(1);
const valueWidths = new Uint8Array(DEPTH_MAX + 1).fill(1);
const framedWidths = new Uint8Array(DEPTH_MAX + 1).fill(1);

export function writeStruct(sink: Sink, object: JsonObject, depth = 0): void {
  for (const key of sortedKeys(object)) {
    const member = object[key];
    if (member === undefined) continue;
    writeEntry(sink, key, member, depth);
  }
}

function writeEntry(sink: Sink, key: string, member: Json, depth: number): void {
  sink.varint(STRUCT_FIELDS);
  const nested = typeof member === 'object';
  const width = nested ? entryWidths[depth]! : 1;
  const entry = sink.openFrame(width);
  writeKey(sink, key);
  sink.varint(ENTRY_VALUE);
  writeFramed(sink, member, depth);
  const taken = sink.closeFrame(entry, width);
  if (nested) entryWidths[depth] = taken;
}

function writeKey(sink: Sink, key: string): void {
  sink.varint(ENTRY_KEY);
  sink.text(key);
}

/** As `writeStruct`. */
export function* structFragments(sink: Sink, object: JsonObject, depth = 0): Iterable<Fragment> {
  const keys = sortedKeys(object);
  for (const key of keys) {
    const member = object[key];
    if (member === undefined) continue;
    const inner = (): readonly Fragment[] => [
      { write: () => writeKey(sink, key) },
      framedFragment(sink, ENTRY_VALUE, member, false, depth),
    ];
    const ofMany = keys.length >= MANY;
    const content = isNested(member)
      ? { id: idOf(STRUCT_FIELDS), value: member, ofMany, isMessage: false, fragments: inner }
      : undefined;
    yield { write: () => writeEntry(sink, key, member, depth), content };
  }
}

export function writeList(sink: Sink, list: readonly Json[], depth = 0): void {
  for (const item of list) {
    sink.varint(LIST_VALUES);
    writeFramed(sink, item, depth);
  }
}

/** As `writeList`. */
export function* listFragments(sink: Sink, list: readonly Json[], depth = 0): Iterable<Fragment> {
  for (const item of list) yield framedFragment(sink, LIST_VALUES, item, list.length >= MANY, depth);
}

/** Always writes the value, as null and defaults are values too. */
export function writeValue(sink: Sink, json: Json, depth = 0): void {
  if (typeof json === 'string') {
    sink.varint(STRING_VALUE);
    sink.text(json);
  } else if (typeof json === 'number') {
    sink.varint(NUMBER_VALUE);
    sink.double(json);
  } else if (typeof json === 'boolean') {
    sink.varint(BOOL_VALUE);
    sink.varint(json ? 1 : 0);
  } else if (json === null) {
    sink.varint(NULL_VALUE);
    sink.varint(0);
  } else {
    assert(depth < DEPTH_MAX, TOO_DEEP);
    const isStruct = isObject(json);
    sink.varint(isStruct ? STRUCT_VALUE : LIST_VALUE);
    const width = valueWidths[depth]!;
    const start = sink.openFrame(width);
    if (isStruct) writeStruct(sink, json, depth + 1);
    else writeList(sink, json, depth + 1);
    valueWidths[depth] = sink.closeFrame(start, width);
  }
}

/** As `writeValue`. */
export function* valueFragments(sink: Sink, json: Json, depth = 0): Iterable<Fragment> {
  const write = (): void => writeValue(sink, json, depth);
  if (!isNested(json)) {
    yield { write };
    return;
  }
  assert(depth < DEPTH_MAX, TOO_DEEP);
  const isStruct = isObject(json);
  const id = idOf(isStruct ? STRUCT_VALUE : LIST_VALUE);
  const fragments = (): Iterable<Fragment> =>
    isStruct ? structFragments(sink, json, depth + 1) : listFragments(sink, json, depth + 1);
  yield { write, content: { id, value: json, ofMany: false, isMessage: false, fragments } };
}

function framedFragment(sink: Sink, tag: number, json: Json, ofMany: boolean, depth: number): Fragment {
  const write = (): void => {
    sink.varint(tag);
    writeFramed(sink, json, depth);
  };
  const fragments = (): Iterable<Fragment> => valueFragments(sink, json, depth);
  const content = isNested(json) ? { id: idOf(tag), value: json, ofMany, isMessage: false, fragments } : undefined;
  return { write, content };
}

function isNested(json: Json): json is JsonObject | readonly Json[] {
  return typeof json === 'object' && json !== null;
}

function idOf(tag: number): number {
  return tag >>> 3;
}

/** The value with its length before it. */
function writeFramed(sink: Sink, json: Json, depth: number): void {
  const nested = typeof json === 'object';
  const width = nested ? framedWidths[depth]! : 1;
  const start = sink.openFrame(width);
  writeValue(sink, json, depth);
  const taken = sink.closeFrame(start, width);
  if (nested) framedWidths[depth] = taken;
}

const ZERO = 0x30;
const NINE = 0x39;

/** The keys sorted by code units, but keys that look like integers first, ascending, as in every JavaScript object. */
export function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object);
  if (keys.length < 2) return keys;
  let sorted = true;
  for (let i = 0; i < keys.length; i++) {
    const first = keys[i]!.charCodeAt(0);
    if (first >= ZERO && first <= NINE) return Object.keys(Object.fromEntries(keys.sort().map(key => [key, true])));
    sorted &&= i === 0 || keys[i - 1]! < keys[i]!;
  }
  return sorted ? keys : keys.sort();
}
