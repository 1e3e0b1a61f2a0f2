// The bytes of a large resource, cut so that what they have in common with its previous version is not kept twice. Of a
// route configuration of 280 KB one virtual host changes, and each namespace has a route configuration of its own: with
// whole copies a change makes megabytes that the next full collection has to find.
//
// Invariants: the parts put together are the given bytes; a part is never changed. What is shared is found by comparing
// bytes, so it does not matter which previous version is given. Sharing stops where it would keep old bytes for little
// (SHARED_LEAST) or make too many parts (PARTS_MAX): then there is one part, a copy.

/** Shorter pieces are copied: each part costs time whenever it is sent. */
const PART_BYTES_MIN = 16 * 1024;
/** Parts of one resource. */
export const PARTS_MAX = 9;
/** The share of the bytes that must be those of the previous version. It bounds what outdated buffers are kept for. */
const SHARED_LEAST = 7 / 8;

/** Keeps nothing of `bytes` itself. */
export function sharedParts(bytes: Buffer, previous: readonly Buffer[]): readonly Buffer[] {
  const same = commonPrefix(bytes, previous);
  const start = lengthOf(same);
  const sameEnd = commonSuffix(bytes.subarray(start), previous);
  const end = bytes.length - lengthOf(sameEnd);
  const middle = end > start ? [copyOf(bytes.subarray(start, end))] : [];
  const parts = [...same, ...middle, ...sameEnd];
  const isWorthIt = end - start <= bytes.length * (1 - SHARED_LEAST) && parts.length <= PARTS_MAX;
  return isWorthIt ? parts : [copyOf(bytes)];
}

/** Parts of `previous` with which the bytes begin, the last one perhaps in part. */
function commonPrefix(bytes: Buffer, previous: readonly Buffer[]): readonly Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  for (const part of previous) {
    const length = samePrefix(part, bytes.subarray(at, at + part.length));
    found.push(part.subarray(0, length));
    if (length < part.length) break;
    at += length;
  }
  while (found.length > 0 && found.at(-1)!.length < PART_BYTES_MIN) found.pop();
  return found;
}

/** Parts of `previous` with which the bytes end, the first one perhaps in part. */
function commonSuffix(bytes: Buffer, previous: readonly Buffer[]): readonly Buffer[] {
  const found: Buffer[] = [];
  let at = bytes.length;
  for (const part of previous.toReversed()) {
    const length = sameSuffix(part, bytes.subarray(Math.max(0, at - part.length), at));
    found.push(part.subarray(part.length - length));
    if (length < part.length) break;
    at -= length;
  }
  while (found.length > 0 && found.at(-1)!.length < PART_BYTES_MIN) found.pop();
  return found.reverse();
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

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
