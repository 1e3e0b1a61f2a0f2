// Resources as JSON that may be large: a route configuration of 500 hosts took 76 ms in one piece. What is repeated in
// a large message is decoded and shown element by element while the page is written, so that other work goes on in
// between.
//
// Invariant: written out, it is the JSON of the whole message in one piece, keys in the same order, nothing private in
// it.

import protobuf from 'protobufjs/light.js';
import type { Json, JsonObject } from '../core/base/json.ts';
import { PRIVATE_FIELDS, withoutPrivateKeys } from '../history/private-fields.ts';
import { typeNameOf } from '../xds/proto/any.ts';
import { hasOwnJson, toJson, toProtoJson } from '../xds/wire/protojson.ts';
import { findType, isMap, messageTypeOf, nameOf, type Plain, type Type, typeOf } from '../xds/wire/registry.ts';
import { ANY } from '../xds/wire/well-known.ts';
import type { LazyJson } from './json-text.ts';

/** Messages of this many bytes and more are decoded element by element. */
export const LARGE_BYTES = 16 * 1024;

const LENGTH_DELIMITED = 2;

/** `bytes`: an encoded google.protobuf.Any. */
export function shownInPieces(bytes: Uint8Array): LazyJson {
  return bytes.length < LARGE_BYTES ? withoutPrivateKeys(toProtoJson(ANY, bytes)) : anyInPieces(bytes);
}

function anyInPieces(bytes: Uint8Array): LazyJson {
  const packed = typeOf(ANY).decode(bytes) as unknown as { readonly typeUrl: string; readonly value: Uint8Array };
  const type = findType(typeNameOf(packed.typeUrl));
  if (type === undefined || hasOwnJson(type)) return withoutPrivateKeys(toProtoJson(ANY, bytes));
  try {
    return { '@type': packed.typeUrl, ...messageInPieces(type, packed.value) };
  } catch {
    // Not a message of its type: shown as the bytes that it is.
    return withoutPrivateKeys(toProtoJson(ANY, bytes));
  }
}

interface List {
  readonly name: string;
  readonly of: Type;
  readonly elements: Uint8Array[];
  bytes: number;
}

/**
 * Every list of messages is left with one empty element in its place, which keeps the key, and is put there afterwards.
 */
function messageInPieces(type: Type, bytes: Uint8Array): { readonly [name: string]: LazyJson } {
  const lists = listsOf(type, bytes);
  const rest = protobuf.Writer.create();
  const reader = protobuf.Reader.create(bytes);
  const left = new Set<number>();
  while (reader.pos < reader.len) {
    const from = reader.pos;
    const tag = reader.uint32();
    reader.skipType(tag & 7);
    if (!lists.has(tag >>> 3)) rest.raw(bytes.subarray(from, reader.pos));
    else if (!left.has(tag >>> 3)) {
      left.add(tag >>> 3);
      rest.uint32(tag).uint32(0);
    }
  }
  const whole = withoutPrivateKeys(toJson(type, type.decode(rest.finish()) as unknown as Plain)) as JsonObject;
  const shown: { [name: string]: LazyJson } = { ...(whole as { readonly [name: string]: Json }) };
  for (const { name, of, elements } of lists.values()) shown[name] = eachOf(of, elements);
  return shown;
}

/** By field number; large fields only. */
function listsOf(type: Type, bytes: Uint8Array): ReadonlyMap<number, List> {
  const lists = new Map<number, List>();
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const field = type.fieldsById[tag >>> 3];
    const of = field === undefined || !field.repeated || isMap(field) ? undefined : messageTypeOf(field);
    const name = field?.jsonName ?? field?.name ?? '';
    if (of === undefined || (tag & 7) !== LENGTH_DELIMITED || (hasOwnJson(of) && nameOf(of) !== ANY)) {
      reader.skipType(tag & 7);
      continue;
    }
    const element = reader.bytes();
    const list = lists.get(tag >>> 3) ?? { name, of, elements: [], bytes: 0 };
    list.elements.push(element);
    list.bytes += element.length;
    lists.set(tag >>> 3, list);
  }
  return new Map([...lists].filter(([, { bytes: all, name }]) => all >= LARGE_BYTES && !PRIVATE_FIELDS.has(name)));
}

function* eachOf(type: Type, elements: readonly Uint8Array[]): IterableIterator<LazyJson> {
  for (const element of elements) {
    if (element.length < LARGE_BYTES) {
      yield withoutPrivateKeys(toJson(type, type.decode(element) as unknown as Plain));
    } else if (nameOf(type) === ANY) yield anyInPieces(element);
    else yield messageInPieces(type, element);
  }
}
