// A journal and the explorer over it on a port of this machine, for tests: a recorded history of the fixtures, or facts
// of the test's own. Callers are limited by the Host they name: `shop.test` may see the proxies of namespace shop,
// `none.test` nothing.

import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explorer } from '../../../../src/admin/explorer/mount.ts';
import { type Admission, type ProvenCaller, serveHttp } from '../../../../src/admin/http.ts';
import type { Unrecorded } from '../../../../src/core/event.ts';
import { importJournal } from '../../../../src/journal/import.ts';
import { linesOf } from '../../../../src/journal/lines.ts';
import { openJournal } from '../../../../src/journal/open.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  /** Undefined: the answer is not JSON. */
  readonly json: ReturnType<typeof JSON.parse>;
}

export interface Served {
  readonly journal: string;
  readonly ask: (path: string, more?: AskOptions) => Promise<Reply>;
  /** The status of a stream that goes on until it is aborted. */
  readonly follow: (path: string, headers: Readonly<Record<string, string>>, stop: AbortSignal) => Promise<number>;
  close(): Promise<void>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Read a stream to its end. */
  readonly watched?: boolean;
}

const fixtures = join(import.meta.dirname, '../../../../journal/fixtures');

/** `from`: the name of a fixture, or facts. `bundle`: the folder of the page. */
export async function served(from: string | readonly Unrecorded[], bundle?: string): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-explorer-'));
  const journal = join(folder, 'journal.db');
  if (typeof from === 'string') {
    await importJournal(journal, linesOf(createReadStream(join(fixtures, `${from}.jsonl`), 'utf8')));
  } else {
    let now = Date.UTC(2026, 0, 1);
    const made = await openJournal(journal, { durability: 'off', clock: () => ++now });
    await made.append(from);
    await made.close();
  }
  return servedFile(journal, { bundle, remove: () => rmSync(folder, { recursive: true, force: true }) });
}

/** A journal that is there. `remove`: called at the end. */
export async function servedFile(
  journal: string,
  { bundle, remove }: { readonly bundle?: string | undefined; readonly remove?: () => void } = {},
): Promise<Served> {
  const failures: string[] = [];
  const mount = explorer({ mode: 'file', journal, onError: message => failures.push(message) }, bundle);
  const server = await serveHttp({ host: '127.0.0.1', port: 0 }, new Map(), message => failures.push(message), {
    admits: ({ headers }) => admissionOf(headers.host ?? ''),
    mount,
  });
  return {
    journal,
    ask: (path, more = {}) => ask(server.port, path, more),
    follow: (path, headers, stop) => follow(server.port, path, headers, stop),
    close: async () => {
      await server.close();
      await mount.close();
      remove?.();
      if (failures.length > 0) throw new Error(failures.join('\n'));
    },
  };
}

function admissionOf(host: string): Admission | ProvenCaller {
  const proven = /^(.+)\.proven\.test$/.exec(host);
  if (proven !== null) return { viewer: 'all', identity: proven[1]! };
  return host === 'shop.test' ? { namespace: 'shop' } : { refused: 403 };
}

function follow(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers, signal }, response => {
      // The stream ends when it is aborted.
      response.on('error', () => undefined);
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once('error', reject);
    asked.end();
  });
}

/** Not by `fetch`, which lets no Host be named. */
function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body, watched = false }: AskOptions,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, response => {
      let text = '';
      response.setEncoding('utf8');
      const end = (json: unknown): void => {
        const status = response.statusCode ?? 0;
        resolve({ status, headers: response.headers, text, json });
      };
      const type = response.headers['content-type'];
      response.on('data', (part: string) => {
        text += part;
        const first = /^data: (.*)\n\n/m.exec(text);
        if (type !== 'text/event-stream' || watched || first === null) return;
        // A stream that goes on: its first event is the answer, and then the asker leaves.
        asked.destroy();
        end(JSON.parse(first[1]!));
      });
      response.on('end', () => end(type === 'application/json' ? JSON.parse(text) : undefined));
    });
    asked.once('error', reject);
    asked.end(body);
  });
}
