// google.protobuf.Struct, Value and ListValue, written from plain JSON. Invariant: members are sorted, so equal JSON
// gives equal bytes.

import { assert } from '../../core/base/assert.ts';
import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
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
/** Sizes that the lengths of objects and lists had last time, by depth: see Sink.openFrame. */
const entryWidths = new Uint8Array(DEPTH_MAX + 1).fill(1);
const valueWidths = new Uint8Array(DEPTH_MAX + 1).fill(1);
const framedWidths = new Uint8Array(DEPTH_MAX + 1).fill(1);

export function writeStruct(sink: Sink, object: JsonObject, depth = 0): void {
  for (const key of sortedKeys(object)) {
    const member = object[key];
    if (member === undefined) continue;
    sink.varint(STRUCT_FIELDS);
    const nested = typeof member === 'object';
    const width = nested ? entryWidths[depth]! : 1;
    const entry = sink.openFrame(width);
    sink.varint(ENTRY_KEY);
    sink.text(key);
    sink.varint(ENTRY_VALUE);
    writeFramed(sink, member, depth);
    const taken = sink.closeFrame(entry, width);
    if (nested) entryWidths[depth] = taken;
  }
}

export function writeList(sink: Sink, list: readonly Json[], depth = 0): void {
  for (const item of list) {
    sink.varint(LIST_VALUES);
    writeFramed(sink, item, depth);
  }
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
    assert(depth < DEPTH_MAX, 'JSON is nested too deeply');
    const isStruct = isObject(json);
    sink.varint(isStruct ? STRUCT_VALUE : LIST_VALUE);
    const width = valueWidths[depth]!;
    const start = sink.openFrame(width);
    if (isStruct) writeStruct(sink, json, depth + 1);
    else writeList(sink, json, depth + 1);
    valueWidths[depth] = sink.closeFrame(start, width);
  }
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
