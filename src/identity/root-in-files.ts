// A self-signed root in a folder beside the journal: for a mesh without a cluster. The folder is for its owner alone
// (0700, files 0600).
//
// A folder appears whole or not at all: it is written under another name and renamed, which fails where one is already.

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RootStore, StoredRoot } from './root-store.ts';

const CERTIFICATE = 'ca-cert.pem';
const KEY = 'ca-key.pem';
const ROOTS = 'root-cert.pem';
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

export function rootInFiles(folder: string): RootStore {
  return {
    place: folder,
    read: async () => {
      const [certificate, key] = await Promise.all([textOf(join(folder, CERTIFICATE)), textOf(join(folder, KEY))]);
      if (certificate === undefined && key === undefined) return undefined;
      if (certificate === undefined || key === undefined) {
        throw new Error(`${folder}: ${CERTIFICATE} and ${KEY} belong together, and one of them is missing`);
      }
      return { certificate, key, version: certificate };
    },
    create: root => createFolder(folder, root),
    update: async (root, version) => {
      if ((await textOf(join(folder, CERTIFICATE))) !== version) return false;
      for (const name of [ROOTS, CERTIFICATE]) await replaceFile(join(folder, name), root.certificate);
      return true;
    },
  };
}

async function createFolder(folder: string, { certificate, key }: StoredRoot): Promise<boolean> {
  const draft = `${folder}.${randomBytes(4).toString('hex')}`;
  await mkdir(draft, { recursive: true, mode: PRIVATE_FOLDER });
  try {
    for (const [name, text] of [
      [KEY, key],
      [CERTIFICATE, certificate],
      [ROOTS, certificate],
    ] as const) {
      await writeFile(join(draft, name), text, { mode: PRIVATE_FILE, flush: true });
    }
    await rename(draft, folder);
    return true;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (isCode(error, 'ENOTEMPTY') || isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, text, { mode: PRIVATE_FILE, flush: true });
  await rename(draft, path);
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    // A key that others may read is no secret: taken back, as ssh would.
    if (path.endsWith(KEY) && (mode & 0o077) !== 0) await chmod(path, PRIVATE_FILE);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
