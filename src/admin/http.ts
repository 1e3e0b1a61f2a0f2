// The HTTP side of the control plane: readiness, metrics, version and debug pages, as routes of plain functions.
// Answers to GET and HEAD only; a handler that fails gives 500 and a line in the log, never a crash. Debug pages show
// the whole configuration of the mesh: they answer peers on this machine (`kubectl port-forward` and `kubectl exec` are
// such peers), and other callers as `admits` decides. A browser on this machine is such a peer too, and a page from
// anywhere may make it ask: so the Host that it names has to be this machine (DNS rebinding).

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Json } from '../core/base/json.ts';
import { HistoryFault } from '../history/history-fault.ts';
import { listen } from '../net/listen.ts';
import { limitConnections } from '../net/open-connections.ts';
import { limitRequests } from '../net/request-limits.ts';
import { jsonParts, type LazyJson } from './json-text.ts';
import { Busy, OneAtATime } from './one-at-a-time.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** Parts of a large one are written one by one. */
  readonly body: string | readonly Buffer[];
}

/** What the caller of a debug page may see: everything, or the proxies of one namespace. */
export type Viewer = 'all' | { readonly namespace: string };

export type Admission = Viewer | { readonly refused: 401 | 403 };

/** A caller that has proven who it is. */
export interface ProvenCaller {
  readonly viewer: Viewer;
  readonly identity: string;
}

/** What a caller from another machine may see of the debug pages, and who it is if it has proven that. */
export type Admits = (
  request: IncomingMessage,
) => Admission | ProvenCaller | Promise<Admission> | Promise<Admission | ProvenCaller>;

/** `viewer`: `all` for pages that are not guarded. */
export type Route = (query: URLSearchParams, viewer: Viewer) => Answer | Promise<Answer>;

/** A part of the server that answers by itself: its callers are admitted as those of debug pages are. */
export interface Mount {
  /** Paths that are these, or below one of them. */
  readonly prefixes: readonly string[];
  readonly handle: (call: MountCall) => Promise<void> | void;
}

export interface MountCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly viewer: Viewer;
  /** Whom limits count against: the proven identity, else the address. The caller cannot choose it. */
  readonly caller: string;
}

/** Pages about one proxy: open to callers that may see the proxies of one namespace. */
const pagesOfProxies: readonly string[] = ['config_dump', 'holdingsz', 'edsz', 'ndsz'].map(page => `/debug/${page}`);

/** A longer request line or header block is refused by node itself. */
export const HEADER_BYTES_MAX = 16 * 1024;
/** For the headers, and for a request as a whole; looked at as often as the third says. */
export const HEADERS_MS_MAX = 2_000;
export const REQUEST_MS_MAX = 5_000;
export const REQUEST_CHECK_MS = 500;
/** Requests under way at the end have so long to be answered. */
export const CLOSE_MS_MAX = 2_000;

export function text(body: string, status = 200): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}

export function json(value: Json, status = 200): Answer {
  return { status, contentType: 'application/json', body: `${JSON.stringify(value, null, 2)}\n` };
}

/** As `json`, for what may be large: made in slices, its lists one by one. */
export async function largeJson(value: LazyJson): Promise<Answer> {
  return { status: 200, contentType: 'application/json', body: await jsonParts(value) };
}

/** What a history cannot answer is the asker's to mend. */
export async function answered(answer: () => Promise<LazyJson>): Promise<Answer> {
  try {
    return await largeJson(await answer());
  } catch (error) {
    if (error instanceof HistoryFault) return text(`${error.message}\n`, 404);
    throw error;
  }
}

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface HttpParts {
  /** Which callers of other machines debug pages answer; default: none. */
  readonly admits?: Admits;
  readonly mount?: Mount;
  /** `/metrics` answers this machine alone (METRICS_LOCALHOST_ACCESS_ONLY). */
  readonly metricsHereOnly?: boolean;
}

/** Rejects if the address cannot be bound. */
export async function serveHttp(
  address: { readonly host: string; readonly port: number },
  routes: ReadonlyMap<string, Route>,
  onError: (message: string) => void,
  { admits = () => ({ refused: 403 }), mount, metricsHereOnly = false }: HttpParts = {},
): Promise<HttpServer> {
  const turns: Turns = { debug: new OneAtATime(), metrics: new OneAtATime() };
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      connectionsCheckingInterval: REQUEST_CHECK_MS,
    },
    (request, response) => {
      const { path, query } = targetOf(request.url ?? '/');
      if (mount?.prefixes.some(prefix => path === prefix || path.startsWith(`${prefix}/`)) === true) {
        const failed = (error: unknown): void => {
          onError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
          if (response.headersSent) response.destroy();
          else send(response, text('internal error, see the log\n', 500));
        };
        return void mounted(mount, { request, response, path, query }, admits).catch(failed);
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, text('only GET\n', 405));
      const route = routes.get(path);
      if (route === undefined)
        return send(response, text(`no such page; try one of\n${[...routes.keys()].sort().join('\n')}\n`, 404));
      const answered = async (): Promise<Answer> => {
        const admission = isGuarded(path) ? await admissionOf(request, path, admits) : 'all';
        if (admission !== 'all' && 'refused' in admission) return refusalOf(request, admission.refused);
        if (metricsHereOnly && path === '/metrics' && !isLoopback(request.socket.remoteAddress)) return FROM_HERE;
        return inTurn(turns, path, () => route(query, admission));
      };
      answered().then(
        answer => send(response, answer),
        (error: unknown) => {
          if (error instanceof Busy) return send(response, text(`${error.message}\n`, 503));
          onError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
          return send(response, text('internal error, see the log\n', 500));
        },
      );
      return undefined;
    },
  );
  limitConnections(server);
  limitRequests(server);
  return {
    port: await listen(server, address, onError),
    close: () =>
      new Promise(resolve => {
        const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS_MAX);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/** A caller who may see the proxies of one namespace is let in: each answer keeps to that. */
async function mounted(mount: Mount, call: Omit<MountCall, 'viewer' | 'caller'>, admits: Admits): Promise<void> {
  const { request, response } = call;
  const admitted = isHere(request) ? 'all' : await admits(request);
  const viewer = viewerOf(admitted);
  if (viewer !== 'all' && 'refused' in viewer) return send(response, refusalOf(request, viewer.refused));
  const caller = isProven(admitted) ? admitted.identity : `address ${request.socket.remoteAddress ?? ''}`;
  return mount.handle({ ...call, viewer, caller });
}

function isProven(admitted: Admission | ProvenCaller): admitted is ProvenCaller {
  return admitted !== 'all' && 'identity' in admitted;
}

function viewerOf(admitted: Admission | ProvenCaller): Admission {
  return isProven(admitted) ? admitted.viewer : admitted;
}

/** In istiod's words (pilot/pkg/bootstrap/monitoring.go, metricsMiddleware). */
const FROM_HERE = text('Only requests from localhost are allowed\n', 403);

interface Turns {
  readonly debug: OneAtATime;
  readonly metrics: OneAtATime;
}

/** Readiness and the version answer at once, whatever else is asked for. */
async function inTurn(turns: Turns, path: string, route: () => Answer | Promise<Answer>): Promise<Answer> {
  if (isGuarded(path)) return turns.debug.run(route);
  return path === '/metrics' ? turns.metrics.run(route) : route();
}

/**
 * `/debug` and what is below it; istiod restricts the same pages (pilot/pkg/xds/debug.go,
 * allowAuthenticatedOrLocalhost).
 */
function isGuarded(path: string): boolean {
  return path === '/debug' || path.startsWith('/debug/');
}

async function admissionOf(request: IncomingMessage, path: string, admits: Admits): Promise<Admission> {
  if (isHere(request)) return 'all';
  const admission = viewerOf(await admits(request));
  if (admission === 'all' || 'refused' in admission || pagesOfProxies.includes(path)) return admission;
  return { refused: 403 };
}

function isHere({ socket, headers }: IncomingMessage): boolean {
  return isLoopback(socket.remoteAddress) && namesThisMachine(headers.host);
}

function refusalOf({ socket }: IncomingMessage, status: 401 | 403): Answer {
  const here = 'a Host that names this machine, such as localhost';
  const why = isLoopback(socket.remoteAddress) ? here : 'the loopback address';
  return text(`debug pages answer on ${why}, or to a caller whose token gives the right\n`, status);
}

/**
 * `localhost`, 127.0.0.0/8 or ::1, with any port. A client that speaks HTTP/1.0 may say none; a browser always does.
 */
export function namesThisMachine(host: string | undefined): boolean {
  if (host === undefined) return true;
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::[0-9]*)?$/.exec(host) ?? [];
  return isLoopback(bracketed ?? plain) || /^localhost\.?$/i.test(plain);
}

/** 127.0.0.0/8 and ::1, also as a socket of both families writes them (`::ffff:127.0.0.1`). */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(::ffff:)?127\.[0-9]+\.[0-9]+\.[0-9]+$/i.test(address));
}

/**
 * Split by hand: `new URL` throws for targets such as `//`, which anybody can send. Slashes that repeat are one:
 * istioctl asks for `//version`.
 */
function targetOf(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = target.indexOf('?');
  const path = (mark < 0 ? target : target.slice(0, mark)).replace(/\/{2,}/g, '/');
  return { path, query: new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1)) };
}

function send(response: ServerResponse, { status, contentType, body }: Answer): void {
  if (typeof body === 'string') {
    response.writeHead(status, { 'content-type': contentType });
    response.end(body);
    return;
  }
  const length = body.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(status, { 'content-type': contentType, 'content-length': length });
  sendFrom(response, body, 0);
}

/** The next part when the reader has taken what is there, and not in the same turn of the event loop. */
function sendFrom(response: ServerResponse, parts: readonly Buffer[], at: number): void {
  const part = parts[at];
  if (part === undefined) response.end();
  else if (!response.destroyed) {
    const goOn = (): void => sendFrom(response, parts, at + 1);
    if (response.write(part)) setImmediate(goOn);
    else response.once('drain', goOn);
  }
}
