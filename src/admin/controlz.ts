// ControlZ, as istiod has it on localhost:9876: `istioctl admin log` reads and changes levels of the log there
// (Istio pkg/ctrlz/topics/scopes.go). Istio's log has a scope for each part of istiod, this one has a single scope,
// `default`. It changes the process, so it answers only callers that reach it under a name of this machine, whatever
// address it listens on.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { namesThisMachine } from './http.ts';
import { limitConnections } from './open-connections.ts';

/** The part of a log that ControlZ changes. */
export interface LeveledLog {
  readonly level: () => Level;
  readonly setLevel: (level: Level) => void;
}
type Level = 'debug' | 'info' | 'warn' | 'error' | 'none';

export interface ControlZ {
  readonly port: number;
  close(): Promise<void>;
}

const SCOPE = 'default';
const BODY_BYTES_MAX = 4_096;
const CONNECTIONS_MAX = 16;
const REQUEST_MS_MAX = 5_000;
/** `fatal` hides errors, which here only `none` does. */
const levels: ReadonlyMap<string, Level> = new Map([
  ...(['debug', 'info', 'warn', 'error', 'none'] as const).map(level => [level, level] as const),
  ['fatal', 'none'],
]);

/** Rejects if the address cannot be bound. */
export async function serveControlZ(
  { host, port }: { readonly host: string; readonly port: number },
  log: LeveledLog,
): Promise<ControlZ> {
  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX },
    (request, response) => {
      answer(request, log).then(
        ([status, body]) => send(response, status, body),
        () => send(response, 400, 'the request could not be read\n'),
      );
    },
  );
  limitConnections(server, CONNECTIONS_MAX);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: host === '' ? undefined : host }, resolve);
  });
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Reply = readonly [status: number, body: string | object | undefined];

async function answer(request: IncomingMessage, log: LeveledLog): Promise<Reply> {
  if (!namesThisMachine(request.headers.host)) return [403, 'ControlZ answers to localhost\n'];
  const path = (request.url ?? '').split('?')[0] ?? '';
  if (path === '/scopej' || path === '/scopej/') {
    return request.method === 'GET' ? [200, [scopeOf(log)]] : [405, 'only GET\n'];
  }
  if (!path.startsWith('/scopej/')) return [404, 'ControlZ has /scopej/\n'];
  const name = path.slice('/scopej/'.length);
  if (name !== SCOPE) return [400, `unknown scope ${name}; there is ${SCOPE}\n`];
  if (request.method === 'GET') return [200, scopeOf(log)];
  if (request.method !== 'PUT') return [405, 'GET or PUT\n'];
  const wanted = levelIn(await bodyOf(request));
  if (wanted === undefined) return [400, `output_level: expected one of ${[...levels.keys()].join(', ')}\n`];
  log.setLevel(wanted);
  return [202, undefined];
}

function scopeOf(log: LeveledLog): object {
  return {
    name: SCOPE,
    description: 'Everything that this process logs.',
    output_level: log.level(),
    stack_trace_level: 'none',
    log_callers: false,
  };
}

function levelIn(body: string): Level | undefined {
  try {
    const { output_level: level } = JSON.parse(body) as { readonly output_level?: unknown };
    return typeof level === 'string' ? levels.get(level) : undefined;
  } catch {
    return undefined;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > BODY_BYTES_MAX) throw new Error('too long');
  }
  return body;
}

function send(response: ServerResponse, status: number, body: string | object | undefined): void {
  const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? '');
  const contentType = typeof body === 'object' ? 'application/json' : 'text/plain; charset=utf-8';
  response.writeHead(status, { 'content-type': contentType });
  response.end(text);
}
