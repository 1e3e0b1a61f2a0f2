// One bit of a text in the memory of a running process, as a fault of the hardware flips it: no code of the process
// knows. Linux, and a process of the same user that descends from this one.
//
// V8 keeps a text as a header that ends with its length (four bytes, little-endian), then its characters
// (v8/src/objects/string.h, SeqOneByteString), so only texts of exactly this content are found: no part of a longer
// one, no page of SQLite, no message of the network. The process stands still meanwhile, so nothing moves.

import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

const CHUNK_BYTES = 16 * 1024 * 1024;
const LENGTH_BYTES = 4;

/** Flips the lowest bit of the last character of each such text. Returns how many were found. */
export function flipBit(pid: number, text: string): number {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32LE(text.length);
  const wanted = Buffer.concat([length, Buffer.from(text, 'latin1')]);
  process.kill(pid, 'SIGSTOP');
  const memory = openSync(`/proc/${pid}/mem`, 'r+');
  try {
    let found = 0;
    for (const [from, to] of writable(pid)) {
      for (const at of placesOf(memory, wanted, from, to)) {
        const last = at + wanted.length - 1;
        writeSync(memory, Buffer.of(text.charCodeAt(text.length - 1) ^ 1), 0, 1, last);
        found++;
      }
    }
    return found;
  } finally {
    closeSync(memory);
    process.kill(pid, 'SIGCONT');
  }
}

/** Start and end of the mappings that the process writes and that no file backs. */
function writable(pid: number): readonly (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [range = '', rights = '', , , inode = ''] = line.split(/\s+/);
    if (!rights.startsWith('rw') || inode !== '0') continue;
    const [from = '', to = ''] = range.split('-');
    found.push([Number.parseInt(from, 16), Number.parseInt(to, 16)]);
  }
  return found;
}

function placesOf(memory: number, wanted: Buffer, from: number, to: number): readonly number[] {
  const found: number[] = [];
  const chunk = Buffer.alloc(CHUNK_BYTES);
  // Chunks overlap, so that a text on a border is found.
  for (let start = from; start < to; start += CHUNK_BYTES - wanted.length) {
    const bytes = readable(memory, chunk, start, Math.min(CHUNK_BYTES, to - start));
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) found.push(start + at);
  }
  return [...new Set(found)];
}

/** Nothing where a mapping has no pages that can be read. */
function readable(memory: number, chunk: Buffer, start: number, length: number): Buffer {
  try {
    return chunk.subarray(0, readSync(memory, chunk, 0, length, start));
  } catch {
    return chunk.subarray(0, 0);
  }
}
