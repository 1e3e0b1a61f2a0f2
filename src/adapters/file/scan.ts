// The files below a folder, as they are now. Follows symbolic links (a mounted ConfigMap is a folder of links into `..data`), skips names that
// begin with a dot (`..data` itself, editors' files), and never loops.

import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface FoundFile {
  readonly path: string;
  /** Changes whenever the content may have: real path, inode, size, times. */
  readonly stamp: string;
  readonly size: number;
}

/** Folders inside folders. */
export const FOLDER_DEPTH_MAX = 32;

const wanted = /\.(ya?ml|json)$/i;

/** Sorted by path. A file that vanishes while we look is not there. An unreadable folder is reported and counts as unreadable. */
export async function scanFolder(
  root: string,
): Promise<{ readonly files: readonly FoundFile[]; readonly problems: readonly string[] }> {
  const files: FoundFile[] = [];
  const problems: string[] = [];
  const visit = async (folder: string, trail: readonly string[]): Promise<void> => {
    const real = await realpath(folder);
    if (trail.includes(real) || trail.length >= FOLDER_DEPTH_MAX) return;
    for (const name of (await readdir(folder)).sort()) {
      if (name.startsWith('.')) continue;
      const path = join(folder, name);
      const info = await statOrUndefined(path);
      if (info?.isDirectory()) {
        await visit(path, [...trail, real]).catch((error: unknown) => problems.push(`${path}: ${String(error)}`));
      } else if (info?.isFile() && wanted.test(name)) {
        files.push({ path, stamp: await stampOf(path, info), size: info.size });
      }
    }
  };
  await visit(root, []);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, problems };
}

export async function findFile(path: string): Promise<FoundFile | undefined> {
  const info = await statOrUndefined(path);
  return info?.isFile() ? { path, stamp: await stampOf(path, info), size: info.size } : undefined;
}

async function stampOf(path: string, info: Stats): Promise<string> {
  const real = await realpath(path).catch(() => path);
  return [real, info.ino, info.size, info.mtimeMs, info.ctimeMs].join(' ');
}

async function statOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch {
    return undefined;
  }
}
