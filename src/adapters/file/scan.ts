// The files below a folder, as they are now. Follows symbolic links (a mounted ConfigMap is a folder of links into
// `..data`), skips names that begin with a dot (`..data` itself, editors' files), and never loops.
//
// What cannot be looked at is never taken for absent: only a name that its folder does not list is gone. A folder that
// may not be listed, a link that leads nowhere (to a mount that is missing, perhaps), a device where a file was, an I/O
// error: each is named with its reason.

import type { Dirent, Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Disk, nodeDisk } from './disk.ts';
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

/** A file or folder that is there, or may be, and cannot be looked at. */
export interface Hidden {
  readonly path: string;
  readonly why: string;
}

export interface Found {
  /** Sorted by path. */
  readonly files: readonly FoundFile[];
  /** Every folder that was looked into. */
  readonly folders: ReadonlySet<string>;
  /** Sorted by path. */
  readonly hidden: readonly Hidden[];
  /** Their folder listed them, and they were gone when they were looked at: renamed, perhaps. */
  readonly vanished: readonly string[];
}

/** Folders inside folders. */
export const FOLDER_DEPTH_MAX = 32;
/** Folders that are looked into, and names in them; and of those that a link leads to. */
export const FOLDERS_MAX = 2_000;
export const NAMES_MAX = 200_000;
export const LINKED_FOLDERS_MAX = 100;
export const LINKED_NAMES_MAX = 10_000;

/** What may still be looked at. Past it nothing more is. */
interface Allowance {
  folders: number;
  names: number;
  exceeded: boolean;
}

/** What a folder lists in place of bytes that are not UTF-8; the file cannot be opened by such a name. */
const REPLACEMENT = '\ufffd';

const wanted = /\.(ya?ml|json)$/i;

export function isWanted(name: string): boolean {
  return !name.startsWith('.') && wanted.test(name);
}

/**
 * Calls `entering` for each folder before it reads it: a watch set there misses nothing. Never rejects: a root that
 * cannot be looked at is hidden.
 */
export async function scanFolder(
  root: string,
  entering: (folder: Watched) => void = () => undefined,
  disk: Disk = nodeDisk,
): Promise<Found> {
  const files: FoundFile[] = [];
  const folders = new Set<string>();
  const hidden: Hidden[] = [];
  const vanished: string[] = [];
  const visit = async (folder: string, trail: readonly string[], allowed: Allowance): Promise<void> => {
    try {
      const real = await disk.realpath(folder);
      if (trail.includes(real)) return;
      if (trail.length >= FOLDER_DEPTH_MAX) throw new Error(`is more than ${FOLDER_DEPTH_MAX} folders deep`);
      if (!spend(allowed, 1, 0)) return;
      entering({ path: folder, inode: (await disk.stat(folder)).ino });
      folders.add(folder);
      const entries = await disk.readdir(folder);
      if (!spend(allowed, 0, entries.length)) return;
      for (const entry of [...entries].sort(byName)) await look(entry, folder, [...trail, real], allowed);
    } catch (error) {
      // A folder below the root that went while it was looked at: its own folder says so at the next look.
      hidden.push({ path: folder, why: whyNot(error) });
    }
  };
  /** A link may lead anywhere: it has an allowance of its own, and nothing is read of what is larger. */
  const follow = async (link: string, trail: readonly string[], allowed: Allowance): Promise<void> => {
    const folders = Math.min(LINKED_FOLDERS_MAX, allowed.folders);
    const names = Math.min(LINKED_NAMES_MAX, allowed.names);
    const own: Allowance = { folders, names, exceeded: false };
    const before = [files.length, hidden.length] as const;
    await visit(link, trail, own);
    spend(allowed, folders - own.folders, names - own.names);
    if (!own.exceeded) return;
    [files.length, hidden.length] = before;
    const why = `leads to more than ${LINKED_FOLDERS_MAX} folders or ${LINKED_NAMES_MAX} names; nothing there is read`;
    hidden.push({ path: link, why });
  };
  const look = async (entry: Dirent, folder: string, trail: readonly string[], allowed: Allowance): Promise<void> => {
    if (allowed.exceeded || entry.name.startsWith('.') || (entry.isFile() && !isWanted(entry.name))) return;
    const path = join(folder, entry.name);
    const kind = await kindOf(entry, path, disk);
    if (kind === 'folder') return entry.isSymbolicLink() ? follow(path, trail, allowed) : visit(path, trail, allowed);
    if (kind === 'other' && !isWanted(entry.name)) return;
    const found = await findFile(path, entry.isFile(), disk);
    if (found === undefined && entry.name.includes(REPLACEMENT))
      hidden.push({ path, why: 'has a name that is not UTF-8' });
    else if (found === undefined) vanished.push(path);
    else if (isHidden(found)) hidden.push(found);
    else if (isWanted(entry.name)) files.push(found);
  };
  const allowed: Allowance = { folders: FOLDERS_MAX, names: NAMES_MAX, exceeded: false };
  await visit(root, [], allowed);
  // What was not looked at may be anywhere below the root: none of it counts as gone.
  if (allowed.exceeded) hidden.push({ path: root, why: `has more than ${FOLDERS_MAX} folders or ${NAMES_MAX} names` });
  files.sort(byPath);
  hidden.sort(byPath);
  return { files, folders, hidden, vanished };
}

/** False, from then on, once more was wanted than there is. */
function spend(allowed: Allowance, folders: number, names: number): boolean {
  allowed.folders -= folders;
  allowed.names -= names;
  if (allowed.folders < 0 || allowed.names < 0) allowed.exceeded = true;
  return !allowed.exceeded;
}

/** Undefined: it is not there. `plain`: known to be a file and no link. */
export async function findFile(
  path: string,
  plain = false,
  disk: Disk = nodeDisk,
): Promise<FoundFile | Hidden | undefined> {
  let own: Stats | undefined;
  try {
    own = plain ? undefined : await disk.lstat(path);
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : { path, why: whyNot(error) };
  }
  try {
    const isLink = own?.isSymbolicLink() === true;
    const info = own === undefined || isLink ? await disk.stat(path) : own;
    if (info.isDirectory()) return undefined;
    if (!info.isFile()) return { path, why: 'is neither a file nor a folder' };
    if (!isLink) return { path, stamp: stampOf(path, info), size: info.size };
    const real = await disk.realpath(path);
    return { path, stamp: stampOf(real, info), size: info.size, target: dirname(real) };
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && own === undefined) return undefined;
    return { path, why: codeOf(error) === 'ENOENT' ? 'leads to a file that is not there' : whyNot(error) };
  }
}

/** True if one of the paths is a folder, or was one. */
export async function hasFolder(paths: readonly string[], known: ReadonlySet<string>, disk: Disk): Promise<boolean> {
  for (const path of paths) {
    if (known.has(path)) return true;
    const info = await disk.stat(path).catch(() => undefined);
    if (info?.isDirectory() === true) return true;
  }
  return false;
}

export function isHidden(found: FoundFile | Hidden | undefined): found is Hidden {
  return found !== undefined && 'why' in found;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** `unknown`: a link that cannot be followed, which may lead to a folder. */
async function kindOf(entry: Dirent, path: string, disk: Disk): Promise<'folder' | 'other' | 'unknown'> {
  if (entry.isDirectory()) return 'folder';
  if (!entry.isSymbolicLink()) return 'other';
  return disk.stat(path).then(
    info => (info.isDirectory() ? 'folder' : 'other'),
    () => 'unknown',
  );
}

function stampOf(real: string, info: Stats): string {
  return [real, info.ino, info.size, info.mtimeMs, info.ctimeMs].join(' ');
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}
