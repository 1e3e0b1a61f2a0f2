// ControlZ, as istiod has it on localhost:9876: `istioctl admin log` reads and changes levels of the log there
// (Istio pkg/ctrlz/topics/scopes.go), `istioctl dashboard controlz` opens its first page. It changes the process, so it
// answers only callers that reach it under a name of this machine, whatever address it listens on.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../net/listen.ts';
import { limitConnections } from '../net/open-connections.ts';
import { limitRequests } from '../net/request-limits.ts';
import { namesThisMachine } from './http.ts';

/** The part of a log that ControlZ changes. */
export interface LeveledLog<S extends string> {
  readonly level: (scope: S) => Level;
  readonly setLevel: (scope: S, level: Level) => void;
}
type Level = 'debug' | 'info' | 'warn' | 'error' | 'none';

export interface ControlZ {
  readonly port: number;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 4_096;
const CONNECTIONS_MAX = 16;
const REQUEST_MS_MAX = 5_000;
/** `fatal` hides errors, which here only `none` does. */
const levels: ReadonlyMap<string, Level> = new Map([
  ...(['debug', 'info', 'warn', 'error', 'none'] as const).map(level => [level, level] as const),
  ['fatal', 'none'],
]);

interface Scopes<S extends string> {
  readonly log: LeveledLog<S>;
  /** Name → what it is about. */
  readonly about: Readonly<Record<S, string>>;
}

/** Rejects if the address cannot be bound. */
export async function serveControlZ<S extends string>(
  { host, port }: { readonly host: string; readonly port: number },
  log: LeveledLog<S>,
  about: Readonly<Record<S, string>>,
  onError: (message: string) => void,
): Promise<ControlZ> {
  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX },
    (request, response) => {
      answer(request, { log, about }).then(
        ([status, body]) => send(response, status, body),
        () => send(response, 400, 'the request could not be read\n'),
      );
    },
  );
  limitConnections(server, CONNECTIONS_MAX);
  limitRequests(server);
  return {
    port: await listen(server, { host, port }, onError),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Reply = readonly [status: number, body: string | object | undefined];

async function answer<S extends string>(request: IncomingMessage, scopes: Scopes<S>): Promise<Reply> {
  if (!namesThisMachine(request.headers.host)) return [403, 'ControlZ answers to localhost\n'];
  const path = (request.url ?? '').split('?')[0] ?? '';
  const names = Object.keys(scopes.about).sort() as S[];
  if (path === '/') return [200, indexOf(names, scopes)];
  if (path === '/scopej' || path === '/scopej/') {
    return request.method === 'GET' ? [200, names.map(name => shown(name, scopes))] : [405, 'only GET\n'];
  }
  if (!path.startsWith('/scopej/')) return [404, 'ControlZ has /scopej/\n'];
  const asked = path.slice('/scopej/'.length);
  const name = names.find(known => known === asked);
  if (name === undefined) return [400, `unknown scope ${asked}; there are ${names.join(', ')}\n`];
  if (request.method === 'GET') return [200, shown(name, scopes)];
  if (request.method !== 'PUT') return [405, 'GET or PUT\n'];
  const wanted = levelIn(await bodyOf(request));
  if (wanted === undefined) return [400, `output_level: expected one of ${[...levels.keys()].join(', ')}\n`];
  scopes.log.setLevel(name, wanted);
  return [202, undefined];
}

function shown<S extends string>(name: S, { log, about }: Scopes<S>): object {
  return {
    name,
    description: about[name],
    output_level: log.level(name),
    stack_trace_level: 'none',
    log_callers: false,
  };
}

/** For a reader; levels are changed by `istioctl admin log`. */
function indexOf<S extends string>(names: readonly S[], { log, about }: Scopes<S>): string {
  const rows = names.map(name => `${name.padEnd(14)}${log.level(name).padEnd(8)}${about[name]}`);
  const change = 'istioctl admin log --level SCOPE:LEVEL, or PUT /scopej/SCOPE {"output_level":"debug"}';
  return `Periplus: scopes of the log and their levels (also at /scopej/)\n\n${rows.join('\n')}\n\nTo change one: ${change}\n`;
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
