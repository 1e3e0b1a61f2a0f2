// What the file adapter asks of a file system, and nothing else: so that a test can put one in its place that refuses, hangs or loses a mount.

import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';

/** Each rejects as `node:fs/promises` does. */
export interface Disk {
  /** Of a link itself. */
  lstat(path: string): Promise<Stats>;
  /** Of what a link leads to. */
  stat(path: string): Promise<Stats>;
  realpath(path: string): Promise<string>;
  readdir(path: string): Promise<readonly Dirent[]>;
  readFile(path: string): Promise<Uint8Array>;
}

export const nodeDisk: Disk = {
  lstat,
  stat,
  realpath,
  readdir: path => readdir(path, { withFileTypes: true }),
  readFile: path => readFile(path),
};
