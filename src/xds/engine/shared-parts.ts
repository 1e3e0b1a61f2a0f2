// The bytes of a large resource, cut so that what they have in common with its previous version is not kept twice. Of a
// route configuration of 280 KB one virtual host changes, and each namespace has a route configuration of its own: with
// whole copies a change makes megabytes that the next full collection has to find.
//
// Invariants: the parts put together are the given bytes; a part is never changed. What is shared is found by comparing
// bytes, so it does not matter which previous version is given. Sharing stops where it would keep old bytes for little
// (SHARED_LEAST) or make too many parts (PARTS_MAX): then there are no more parts than before.

import { lengthOf } from '../wire/frame.ts';

/** Shorter pieces are copied: each part costs time whenever it is sent. */
const PART_BYTES_MIN = 16 * 1024;
/** Parts of one resource that was in one part. */
export const PARTS_MAX = 9;
/** The share of the bytes that must be those of the previous version. It bounds what outdated buffers are kept for. */
const SHARED_LEAST = 7 / 8;

/** Keeps nothing of `bytes` itself. */
export function sharedParts(bytes: Buffer, previous: readonly Buffer[]): readonly Buffer[] {
  return sharing([bytes], previous) ?? [copyOf([bytes])];
}

/** As `sharedParts`, of bytes that are in parts already, which are kept if sharing is not worth it. */
export function sharedWithParts(given: readonly Buffer[], previous: readonly Buffer[]): readonly Buffer[] {
  return sharing(given, previous) ?? given;
}

/** Undefined: not worth it. */
function sharing(given: readonly Buffer[], previous: readonly Buffer[]): readonly Buffer[] | undefined {
  const length = lengthOf(given);
  const same = common(given, previous, fromStart);
  const rest = between(given, lengthOf(same), length);
  const sameEnd = common(rest.toReversed(), previous.toReversed(), fromEnd).reverse();
  const middle = between(rest, 0, lengthOf(rest) - lengthOf(sameEnd));
  const parts = same.length + sameEnd.length + (middle.length > 0 ? 1 : 0);
  const isWorthIt = lengthOf(middle) <= length * (1 - SHARED_LEAST) && parts < PARTS_MAX + given.length;
  if (!isWorthIt) return undefined;
  return middle.length > 0 ? [...same, copyOf(middle), ...sameEnd] : [...same, ...sameEnd];
}

/** From which end buffers are compared. */
interface Side {
  /** The number of bytes that both have in common. */
  readonly same: (a: Buffer, b: Buffer) => number;
  readonly first: (bytes: Buffer, count: number) => Buffer;
  /** All but the first ones. */
  readonly rest: (bytes: Buffer, count: number) => Buffer;
}

const fromStart: Side = {
  same: samePrefix,
  first: (bytes, count) => bytes.subarray(0, count),
  rest: (bytes, count) => bytes.subarray(count),
};

const fromEnd: Side = {
  same: sameSuffix,
  first: (bytes, count) => bytes.subarray(bytes.length - count),
  rest: (bytes, count) => bytes.subarray(0, bytes.length - count),
};

/** Parts of `previous` with which the given ones begin, the last one perhaps in part. */
function common(given: readonly Buffer[], previous: readonly Buffer[], { same, first, rest }: Side): Buffer[] {
  const found: Buffer[] = [];
  let next = 0;
  let left: Buffer = Buffer.alloc(0);
  for (const part of previous) {
    let count = 0;
    while (count < part.length) {
      if (left.length === 0) {
        if (next === given.length) break;
        left = given[next++]!;
      }
      const length = same(rest(part, count), left);
      count += length;
      left = rest(left, length);
      if (left.length > 0) break;
    }
    found.push(first(part, count));
    if (count < part.length) break;
  }
  while (found.length > 0 && found.at(-1)!.length < PART_BYTES_MIN) found.pop();
  return found;
}

/** The bytes from `start` to `end`. */
function between(parts: readonly Buffer[], start: number, end: number): readonly Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  for (const part of parts) {
    const piece = part.subarray(Math.max(0, start - at), Math.max(0, end - at));
    if (piece.length > 0) found.push(piece);
    at += part.length;
  }
  return found;
}

/** The number of bytes with which both begin. By halves: one comparison of many bytes costs less than many of one. */
function samePrefix(a: Buffer, b: Buffer): number {
  let low = 0;
  let high = Math.min(a.length, b.length);
  if (a.compare(b, 0, high, 0, high) === 0) return high;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (a.compare(b, low, middle, low, middle) === 0) low = middle;
    else high = middle;
  }
  return low;
}

function sameSuffix(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length);
  const equal = (from: number, to: number): boolean =>
    a.compare(b, b.length - to, b.length - from, a.length - to, a.length - from) === 0;
  if (equal(0, most)) return most;
  let low = 0;
  let high = most;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (equal(low, middle)) low = middle;
    else high = middle;
  }
  return low;
}

function copyOf(parts: readonly Buffer[]): Buffer {
  const copy = Buffer.allocUnsafeSlow(lengthOf(parts));
  let at = 0;
  for (const part of parts) at += part.copy(copy, at);
  return copy;
}
