// The files below a folder, as they are now. Follows symbolic links (a mounted ConfigMap is a folder of links into `..data`), skips names that
// begin with a dot (`..data` itself, editors' files), and never loops.

import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Watched } from './folder-watch.ts';
import { whyNot } from './why-not.ts';

export interface FoundFile {
  readonly path: string;
  /** Changes whenever the content may have: real path of a link, inode, size, times. */
  readonly stamp: string;
  readonly size: number;
  /** Behind a link: the folder where the content is. */
  readonly target?: string;
}

export interface Found {
  /** Sorted by path. */
  readonly files: readonly FoundFile[];
  /** Every folder that was looked into. */
  readonly folders: ReadonlySet<string>;
  readonly problems: readonly string[];
}

/** Folders inside folders. */
export const FOLDER_DEPTH_MAX = 32;

const wanted = /\.(ya?ml|json)$/i;

export function isWanted(name: string): boolean {
  return !name.startsWith('.') && wanted.test(name);
}

/**
 * A file that vanishes while we look is not there. An unreadable folder is reported and counts as unreadable. `entering` is told of each
 * folder before it is read: a watch set there misses nothing.
 */
export async function scanFolder(root: string, entering: (folder: Watched) => void = () => undefined): Promise<Found> {
  const files: FoundFile[] = [];
  const folders = new Set<string>();
  const problems: string[] = [];
  const visit = async (folder: string, trail: readonly string[]): Promise<void> => {
    const real = await realpath(folder);
    if (trail.includes(real) || trail.length >= FOLDER_DEPTH_MAX) return;
    entering({ path: folder, inode: (await stat(folder)).ino });
    folders.add(folder);
    for (const entry of (await readdir(folder, { withFileTypes: true })).sort(byName)) {
      if (entry.name.startsWith('.') || (entry.isFile() && !isWanted(entry.name))) continue;
      const path = join(folder, entry.name);
      if (await isFolder(entry, path)) {
        await visit(path, [...trail, real]).catch((error: unknown) => problems.push(`${path}: ${whyNot(error)}`));
      } else if (isWanted(entry.name)) {
        const file = await findFile(path, entry.isFile());
        if (file !== undefined) files.push(file);
      }
    }
  };
  await visit(root, []);
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, folders, problems };
}

/** `plain`: known to be a file and no link. */
export async function findFile(path: string, plain = false): Promise<FoundFile | undefined> {
  try {
    const own = plain ? undefined : await lstat(path);
    const info = own === undefined || own.isSymbolicLink() ? await stat(path) : own;
    if (!info.isFile()) return undefined;
    if (own?.isSymbolicLink() !== true) return { path, stamp: stampOf(path, info), size: info.size };
    const real = await realpath(path);
    return { path, stamp: stampOf(real, info), size: info.size, target: dirname(real) };
  } catch {
    return undefined;
  }
}

async function isFolder(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return stat(path).then(
    info => info.isDirectory(),
    () => false,
  );
}

function stampOf(real: string, info: Stats): string {
  return [real, info.ino, info.size, info.mtimeMs, info.ctimeMs].join(' ');
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}
