// The page of the explorer: the files of its bundle, listed once, so that a path that is not a file of it is not there.
// Nothing but these files can run in the page: the policy allows no other origin, no inline script and no eval.

import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SAFE_HEADERS } from './respond.ts';

/** In the clone and in the package: `src/admin/explorer` and `dist/admin/explorer` are equally deep. */
const BUNDLE = fileURLToPath(new URL('../../../dist/ui', import.meta.url));
/** A bundle is a few files. */
export const FILES_MAX = 500;

/** As esbuild names what it hashes: its name changes with its content. */
const HASHED = /[.-][A-Za-z0-9_-]{8,64}\.[a-z0-9]{1,8}$/;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
};

interface File {
  readonly type: string;
  readonly bytes: Buffer;
  /** Its name has a hash of its content. */
  readonly isHashed: boolean;
}

export class StaticFiles {
  readonly #folder: string;
  #files: Promise<ReadonlyMap<string, File>> | undefined;

  constructor(folder = BUNDLE) {
    this.#folder = folder;
  }

  /** `path`: below /ui/. */
  async answer(path: string, method: string, response: ServerResponse): Promise<void> {
    this.#files ??= filesOf(this.#folder);
    const files = await this.#files;
    // Not built yet: looked for again, so that a build beside a running server is seen.
    if (files.size === 0) this.#files = undefined;
    const file = files.get(path === '' ? 'index.html' : path);
    if (file === undefined) {
      const why = files.size === 0 ? 'the page is not built: npm run build' : 'no such file';
      response.writeHead(404, { ...SAFE_HEADERS, 'content-type': TYPES['.txt'] });
      response.end(`${why}\n`);
      return;
    }
    response.writeHead(200, {
      ...SAFE_HEADERS,
      'content-type': file.type,
      'content-length': file.bytes.length,
      'cache-control': file.isHashed ? 'max-age=31536000, immutable' : 'no-cache',
    });
    response.end(method === 'HEAD' ? undefined : file.bytes);
  }
}

async function filesOf(folder: string): Promise<ReadonlyMap<string, File>> {
  const found = new Map<string, File>();
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  for (const name of names.slice(0, FILES_MAX)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const bytes = await readFile(join(folder, name)).catch(() => undefined);
    const path = name.split(sep).join('/');
    if (bytes !== undefined) found.set(path, { type, bytes, isHashed: HASHED.test(path) });
  }
  return found;
}
