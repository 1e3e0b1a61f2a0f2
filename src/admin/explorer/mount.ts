// The explorer's part of an HTTP server: the page below /ui/ and its API below /api/v1/. The server has admitted the
// caller already and says what it may see. Answers are made in other threads; this passes on bytes and progress.
//
// A page of another origin may make a browser send requests here: they are refused by what the browser says of their
// origin, and a POST needs a content type that other origins may not send without asking first.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Mount } from '../http.ts';
import { answered, answeredWithProgress, SOON_MS } from './answering.ts';
import { Asker, type AskerSetup } from './asker.ts';
import { LiveTail } from './live-tail.ts';
import { refuse, SAFE_HEADERS } from './respond.ts';
import { StaticFiles } from './static.ts';

/** Of a what-if. */
export const BODY_BYTES_MAX = 1024 * 1024;
const CLIENT_CHARS_MAX = 64;
const POSTED = '/what-if';
const STREAM_TYPE = 'text/event-stream';

export interface Explorer extends Mount {
  close(): Promise<void>;
}

/** `folder`: of the page's files, for tests. */
export function explorer(setup: AskerSetup, folder?: string): Explorer {
  const asker = new Asker(setup);
  const files = new StaticFiles(folder);
  const tail = new LiveTail(asker);
  return {
    prefixes: ['/', '/ui', '/api/v1'],
    handle: async ({ request, response, path, query, viewer, caller }) => {
      const method = request.method ?? 'GET';
      if (path === '/' || path === '/ui') return redirect(response);
      if (path.startsWith('/ui/')) {
        if (method !== 'GET' && method !== 'HEAD') return refuse(response, 405, 'only GET');
        return files.answer(path.slice('/ui/'.length), method, response);
      }
      if (isForeign(request)) return refuse(response, 403, 'asked by a page of another origin');
      const asked = path.slice('/api/v1'.length);
      if (method !== (asked === POSTED ? 'POST' : 'GET'))
        return refuse(response, 405, asked === POSTED ? 'only POST' : 'only GET');
      const client = clientOf(request);
      const question = { path: asked, query: query.toString(), viewer, caller, client, body: '' };
      if (asked === '/live') return tail.serve(question, response);
      const body = method === 'POST' ? await bodyOf(request) : '';
      if (typeof body === 'object') return refuse(response, body.status, body.error);
      const ask = (onProgress?: (done: number, of: number) => void) =>
        asker.ask({ ...question, body, ...(onProgress && { onProgress }) }, abortOf(response));
      const delayMs = progressAfterMs(request);
      return delayMs === undefined ? answered(response, await ask()) : answeredWithProgress(response, ask, delayMs);
    },
    close: async () => {
      tail.close();
      await asker.close();
    },
  };
}

function redirect(response: ServerResponse): void {
  response.writeHead(302, { ...SAFE_HEADERS, location: '/ui/' });
  response.end();
}

/** Programs and old browsers send neither header. */
function isForeign({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin } = headers;
  return origin !== undefined && origin.replace(/^https?:\/\//, '') !== headers.host;
}

/** When a stream with progress begins; undefined: never, the asker takes JSON only. */
function progressAfterMs({ headers }: IncomingMessage): number | undefined {
  const accept = headers.accept ?? '';
  if (!accept.includes(STREAM_TYPE)) return undefined;
  return accept.trim() === STREAM_TYPE ? 0 : SOON_MS;
}

function clientOf({ headers, socket }: IncomingMessage): string {
  const named = headers['x-periplus-client'];
  if (typeof named === 'string' && named !== '') return named.slice(0, CLIENT_CHARS_MAX);
  return `${socket.remoteAddress ?? ''}:${socket.remotePort ?? 0}`;
}

/** Fires when the asker leaves before the answer. */
export function abortOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  return controller.signal;
}

async function bodyOf(request: IncomingMessage): Promise<string | { readonly status: number; readonly error: string }> {
  const type = request.headers['content-type']?.split(';')[0]?.trim();
  if (type !== 'application/json') return { status: 415, error: 'expected content-type application/json' };
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return { status: 413, error: `more than ${BODY_BYTES_MAX} bytes` };
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
