// The hash chain: exactly which bytes are hashed, for events and for snapshots. docs/journal-format.md says the same in
// prose; a change of either is a new format.
//
// The header is text with one line a field. It is unambiguous because source and kind hold no control characters
// (codec.ts refuses them) and the body is the rest. crc32 sums stand beside the chain only to tell *which* column was
// changed.

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
  if (body.length + source.length + kind.length > SCRATCH_CHARS_MAX) {
    const header = `${seq}\n${time}\n${source}\n${kind}\n`;
    return createHash('sha256').update(previous).update(header).update(body).digest();
  }
  scratch.set(previous);
  return hash('sha256', scratch.subarray(0, writeText(seq, time, source, kind, body)), 'buffer');
}

/** As chainHash, with hashes in hex, which avoids a Buffer for each event when hashes are only compared. */
export function chainHashHex(
  previous: string,
  seq: number,
  time: number,
  source: string,
  kind: string,
  body: string,
): string {
  if (body.length + source.length + kind.length > SCRATCH_CHARS_MAX) {
    return chainHash(Buffer.from(previous, 'hex'), seq, time, source, kind, body).toString('hex');
  }
  if (scratch.write(previous, 0, HASH_BYTES, 'hex') !== HASH_BYTES) return 'the hash before is none';
  return hash('sha256', scratch.subarray(0, writeText(seq, time, source, kind, body)), 'hex');
}

/**
 * Hash and sums of one row after the other, as chainHash and columnSums give them, in the same two Buffers: to make
 * new ones for each row costs as much as hashing it.
 */
export class RowChain {
  /** Of the last row; without any, the hash before. */
  readonly hash: Buffer;
  /** Of the last row. */
  readonly sums = Buffer.alloc(SUMS_BYTES);
  #hex: string;
  /** Whose sum stands in `sums`. */
  #time: number | undefined;

  constructor(before: Buffer) {
    this.hash = Buffer.from(before);
    this.#hex = before.toString('hex');
  }

  add(seq: number, time: number, source: string, kind: string, body: string): void {
    this.#hex = chainHashHex(this.#hex, seq, time, source, kind, body);
    this.hash.write(this.#hex, 'hex');
    if (time !== this.#time) this.sums.writeUInt32BE(crc32(`${time}`), 0);
    this.#time = time;
    this.sums.writeUInt32BE(nameSum(source), 4);
    this.sums.writeUInt32BE(nameSum(kind), 8);
    this.sums.writeUInt32BE(crc32(body), 12);
  }
}

/**
 * Writes behind the previous hash, so that one call hashes everything: a Hash object costs more than hashing most
 * events. Returns the end.
 */
function writeText(seq: number, time: number, source: string, kind: string, body: string): number {
  const header = HASH_BYTES + scratch.write(`${seq}\n${time}\n${source}\n${kind}\n`, HASH_BYTES, 'utf8');
  return header + scratch.write(body, header, 'utf8');
}

const SCRATCH_CHARS_MAX = 16_384;
/** Room for two numbers and their line breaks beside the texts; a UTF-16 code unit takes three bytes at most. */
const NUMBERS_BYTES_MAX = 64;
const scratch = Buffer.allocUnsafeSlow(HASH_BYTES + NUMBERS_BYTES_MAX + 3 * SCRATCH_CHARS_MAX);

/** As chainHash, over the stored bytes: decoding would hide text that is no longer valid UTF-8. */
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

/** Sources and kinds are few and repeat, so their bytes are cached. */
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

/** The hash of one segment's body. */
export function segmentHash(body: string | Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}

/** The hash of a snapshot: its columns, then the hashes of its segments in order. */
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
