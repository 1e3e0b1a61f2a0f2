// The explorer's part of an HTTP server: the page below /ui/ and its API below /api/v1/. The server has admitted the
// caller already and says what it may see. Answers are made in other threads; this passes on bytes and progress.
//
// A page of another origin may make a browser send requests here: they are refused by what the browser says of their
// origin, and a POST needs a content type that other origins may not send without asking first.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Mount } from '../http.ts';
import { Asker, type AskerSetup, type Question, type ThreadAnswer } from './asker.ts';
import { LiveTail } from './live-tail.ts';
import { refuse, SAFE_HEADERS, STREAM_HEADERS } from './respond.ts';
import { StaticFiles } from './static.ts';

/** Of a what-if. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** Bytes given to the socket at once. */
const WRITE_BYTES = 256 * 1024;
const CLIENT_CHARS_MAX = 64;
const POSTED = '/what-if';
/** They may say how far they are. */
const searches: readonly string[] = ['/bisect', '/incident'];

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
      if (searches.includes(asked) && request.headers.accept === 'text/event-stream')
        return stream(asker, question, response);
      const body = method === 'POST' ? await bodyOf(request) : '';
      if (typeof body === 'object') return refuse(response, body.status, body.error);
      return send(response, await asker.ask({ ...question, body }, abortOf(response)));
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

function send(response: ServerResponse, { status, body }: ThreadAnswer): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length, 'cache-control': 'no-store' };
  response.writeHead(status, { ...SAFE_HEADERS, ...headers });
  return new Promise(resolve => {
    response.once('close', resolve);
    const writeFrom = (at: number): void => {
      if (at >= body.length) response.end();
      else if (response.destroyed) resolve();
      else if (response.write(body.subarray(at, at + WRITE_BYTES))) setImmediate(() => writeFrom(at + WRITE_BYTES));
      else response.once('drain', () => writeFrom(at + WRITE_BYTES));
    };
    writeFrom(0);
  });
}

async function stream(asker: Asker, question: Question, response: ServerResponse): Promise<void> {
  response.writeHead(200, STREAM_HEADERS);
  response.write(': asked\n\n');
  const say = (event: string, data: string): void => {
    if (!response.destroyed) response.write(`event: ${event}\ndata: ${data}\n\n`);
  };
  const onProgress = (done: number, of: number): void => say('progress', JSON.stringify({ done, of }));
  const { status, body } = await asker.ask({ ...question, onProgress }, abortOf(response));
  say(status === 200 ? 'answer' : 'fault', Buffer.from(body).toString('utf8'));
  response.end();
}
