// The hash chain: exactly which bytes are hashed, for events and for snapshots. docs/journal-format.md says the same in prose;
// a change of either is a new format.
//
// The header is text with one line a field. It is unambiguous because source and kind hold no control characters (codec.ts
// refuses them) and the body is the rest. crc32 sums stand beside the chain only to tell *which* column was changed.

import { createHash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Hash "before the first event" of a journal that starts at seq 1. */
export const CHAIN_START: Buffer = createHash('sha256').update('periplus-journal/1').digest();

export const HASH_BYTES = 32;
export const SUMS_BYTES = 16;
/** The order of the sums, four bytes each, big-endian. */
export const SUMMED_COLUMNS = ['time', 'source', 'kind', 'body'] as const;

export function chainHash(
  previous: Buffer,
  seq: number,
  time: number,
  source: string,
  kind: string,
  body: string,
): Buffer {
  const text = `${seq}\n${time}\n${source}\n${kind}\n${body}`;
  // In one piece and one call: a Hash object costs more than the hashing of most events.
  if (text.length > SCRATCH_CHARS_MAX) return createHash('sha256').update(previous).update(text, 'utf8').digest();
  scratch.set(previous);
  const length = scratch.write(text, HASH_BYTES, 'utf8');
  return hash('sha256', scratch.subarray(0, HASH_BYTES + length), 'buffer');
}

const SCRATCH_CHARS_MAX = 16_384;
/** A UTF-16 code unit takes three bytes at most. */
const scratch = Buffer.allocUnsafeSlow(HASH_BYTES + 3 * SCRATCH_CHARS_MAX);

/** As chainHash, over the bytes as they are stored: text that is not valid UTF-8 any more must not pass by being decoded. */
export function chainHashOfBytes(
  previous: Buffer,
  row: {
    readonly seq: number;
    readonly time: number;
    readonly source: Buffer;
    readonly kind: Buffer;
    readonly body: Buffer;
  },
): Buffer {
  return createHash('sha256')
    .update(previous)
    .update(`${row.seq}\n${row.time}\n`)
    .update(row.source)
    .update('\n')
    .update(row.kind)
    .update('\n')
    .update(row.body)
    .digest();
}

export function columnSums(
  time: number,
  source: string | Buffer,
  kind: string | Buffer,
  body: string | Buffer,
): Buffer {
  const sums = Buffer.allocUnsafe(SUMS_BYTES);
  sums.writeUInt32BE(crc32(`${time}`), 0);
  sums.writeUInt32BE(nameSum(source), 4);
  sums.writeUInt32BE(nameSum(kind), 8);
  sums.writeUInt32BE(crc32(body), 12);
  return sums;
}

/** Sources and kinds are few, and the same again and again. */
const nameSums = new Map<string, number>();
const NAME_SUMS_MAX = 1_000;

function nameSum(name: string | Buffer): number {
  if (typeof name !== 'string') return crc32(name);
  let sum = nameSums.get(name);
  if (sum === undefined) {
    sum = crc32(name);
    if (nameSums.size >= NAME_SUMS_MAX) nameSums.clear();
    nameSums.set(name, sum);
  }
  return sum;
}

/** Of one segment's body. */
export function segmentHash(body: string | Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}

/** Of a snapshot: its columns, then the hashes of its segments in order. */
export function snapshotHash(
  row: {
    readonly seq: number;
    readonly format: number;
    readonly time: number;
    readonly facts: number;
    readonly chain: Buffer;
  },
  segments: readonly Buffer[],
): Buffer {
  const sum = createHash('sha256');
  sum.update(`snapshot\n${row.seq}\n${row.format}\n${row.time}\n${row.facts}\n${segments.length}\n`);
  sum.update(row.chain);
  for (const segment of segments) sum.update(segment);
  return sum.digest();
}
