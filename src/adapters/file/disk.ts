// What the file adapter asks of a file system, and nothing else: so that a test can put one in its place that refuses,
// hangs or loses a mount.

import { constants, type Dirent, type Stats } from 'node:fs';
import { lstat, open, readdir, realpath, stat } from 'node:fs/promises';

/** Each rejects as `node:fs/promises` does. */
export interface Disk {
  /** Of a link itself. */
  lstat(path: string): Promise<Stats>;
  /** Of what a link leads to. */
  stat(path: string): Promise<Stats>;
  realpath(path: string): Promise<string>;
  readdir(path: string): Promise<readonly Dirent[]>;
  /** At most READ_BYTES_MAX of it: a device may never end. */
  readFile(path: string): Promise<Uint8Array>;
}

/** Bytes of a file that are read; more than any that is not refused for its size. */
export const READ_BYTES_MAX = 4 * 1024 * 1024 + 1;
const CHUNK_BYTES = 256 * 1024;

export const nodeDisk: Disk = {
  lstat,
  stat,
  realpath,
  readdir: path => readdir(path, { withFileTypes: true }),
  readFile: readWithoutWaiting,
};

/** A pipe without a writer, or a device with nothing to say, is an error and no wait. */
async function readWithoutWaiting(path: string): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const chunks: Uint8Array[] = [];
    for (let bytes = 0; bytes < READ_BYTES_MAX; ) {
      const chunk = new Uint8Array(Math.min(CHUNK_BYTES, READ_BYTES_MAX - bytes));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) break;
      chunks.push(chunk.subarray(0, bytesRead));
      bytes += bytesRead;
    }
    return Buffer.concat(chunks);
  } finally {
    await file.close();
  }
}
