// Counts the fields of a message before it is decoded. Decoding takes microseconds for each field, whatever its size:
// 4 MiB of entries of some bytes are 300,000 of them, and more than a second in one turn of the event loop.
//
// Invariant: reads as many fields as `max` and one more, and nothing outside the message.

import protobuf from 'protobufjs/light.js';
import { isMap, messageTypeOf, type Type } from './registry.ts';

const WIRE_LENGTH_DELIMITED = 2;
/** Messages nested deeper are left to the decoder, which refuses them. */
const DEPTH_MAX = 100;
/** Of an entry of a map. */
const VALUE = 2;

/**
 * True if the fields `within` of `bytes`, a message of `type`, hold more than `max` fields together, those of messages
 * in them included.
 */
export function hasMoreFields(bytes: Uint8Array, type: Type, within: readonly string[], max: number): boolean {
  let left = max;
  const reader = protobuf.Reader.create(bytes);
  /** `entryOf`: the values of this map. */
  const count = (of: Type | undefined, entryOf: Type | undefined, end: number, depth: number): void => {
    while (reader.pos < end && left >= 0) {
      const tag = reader.uint32();
      const field = of?.fieldsById[tag >>> 3];
      if (depth === 0 && !within.includes(field?.name ?? '')) {
        reader.skipType(tag & 7);
        continue;
      }
      left--;
      const message = field === undefined ? undefined : messageTypeOf(field);
      const inside = of === undefined && tag >>> 3 === VALUE ? entryOf : message;
      const isEntry = field !== undefined && isMap(field);
      if ((tag & 7) !== WIRE_LENGTH_DELIMITED || depth === DEPTH_MAX || (inside === undefined && !isEntry)) {
        reader.skipType(tag & 7);
        continue;
      }
      const length = reader.uint32();
      const stop = Math.min(end, reader.pos + length);
      if (isEntry) count(undefined, message, stop, depth + 1);
      else count(inside, undefined, stop, depth + 1);
      reader.pos = stop;
    }
  };
  count(type, undefined, reader.len, 0);
  return left < 0;
}

/**
 * True if `bytes`, a message, holds more than `max` of the fields with these numbers, those of messages in it not
 * counted. False for bytes that are no message.
 */
export function hasMoreOf(bytes: Uint8Array, numbers: ReadonlySet<number>, max: number): boolean {
  // A field takes two bytes at least.
  if (bytes.length <= 2 * max) return false;
  let found = 0;
  const reader = protobuf.Reader.create(bytes);
  try {
    while (reader.pos < reader.len && found <= max) {
      const tag = reader.uint32();
      if (numbers.has(tag >>> 3)) found++;
      reader.skipType(tag & 7);
    }
  } catch {
    return false;
  }
  return found > max;
}
