// Requests to an API server. Answers are bounded, every request can be aborted, and errors become data with the
// server's own message. This is the only file of the adapter that does HTTP; tests replace the server.
//
// `Api` reads (GET only), `WriteApi` writes. A process that is to write nothing makes no use of the second.

import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isObject, type Json } from '../../core/base/json.ts';
import { type Chance, sleep } from '../kit/clock.ts';
import type { Credentials } from './credentials.ts';
import { type Failure, KubeFault } from './failure.ts';
import { failureOfStatus } from './heard.ts';
import {
  ERROR_BYTES_MAX,
  REQUEST_MS_MAX,
  WATCH_LINE_BYTES_MAX,
  WATCH_START_MS_MAX,
  WRITE_ANSWER_BYTES_MAX,
  WRITE_MS_MAX,
} from './limits.ts';
import { Lines } from './lines.ts';
import { listIn } from './list-text.ts';
import { type Bucket, fullBucket, type RateLimit, takeToken } from './rate-limit.ts';

export type Query = Readonly<Record<string, string | undefined>>;

/** An open watch. */
export interface WatchStream {
  /** The next lines, at least one; undefined after the server ended the watch. Rejects with a KubeFault. */
  next(): Promise<readonly string[] | undefined>;
  close(): void;
}

export interface Api {
  /** Rejects with a KubeFault, as the other methods do. */
  get(path: string, query: Query, options: GetOptions): Promise<Json>;
  watch(path: string, query: Query, options: RequestLimits): Promise<WatchStream>;
}

export type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface WriteRequest {
  readonly method: WriteMethod;
  readonly path: string;
  readonly query?: Query;
  readonly body?: Json;
  /** Default: application/json. */
  readonly contentType?: string;
}

export interface WriteApi {
  /** The answer's object. Rejects with a KubeFault; a failure of status 0 may have been carried out all the same. */
  write(request: WriteRequest, limits: RequestLimits): Promise<Json>;
}

export interface RequestLimits {
  readonly signal: AbortSignal;
  readonly accept?: string;
}
export interface GetOptions extends RequestLimits {
  readonly bytesMax: number;
}

export interface HttpApiOptions {
  readonly credentials: Credentials;
  readonly limit: RateLimit;
  readonly chance: Chance;
  readonly userAgent: string;
}

export class HttpApi implements Api, WriteApi {
  readonly #options: HttpApiOptions;
  #bucket: Bucket;

  constructor(options: HttpApiOptions) {
    this.#options = options;
    this.#bucket = fullBucket(options.limit, options.chance.now());
  }

  async get(path: string, query: Query, { signal, accept, bytesMax }: GetOptions): Promise<Json> {
    return answerOf(
      await this.#open({ method: 'GET', path, query }, { signal, accept }, REQUEST_MS_MAX),
      path,
      bytesMax,
    );
  }

  async write(request: WriteRequest, limits: RequestLimits): Promise<Json> {
    return answerOf(await this.#open(request, limits, WRITE_MS_MAX), request.path, WRITE_ANSWER_BYTES_MAX);
  }

  async watch(path: string, query: Query, limits: RequestLimits): Promise<WatchStream> {
    const request = { method: 'GET', path, query: { ...query, watch: 'true' } } as const;
    const opened = await this.#open(request, limits, WATCH_START_MS_MAX);
    opened.begun();
    const lines = new Lines(WATCH_LINE_BYTES_MAX);
    const chunks = opened.response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const next = async (): Promise<readonly string[] | undefined> => {
      for (;;) {
        const chunk = await chunks.next().catch((error: unknown) => Promise.reject(faultOf(error, path)));
        if (chunk.done) return undefined;
        const complete = lines.push(chunk.value);
        if (complete === undefined) {
          throw new KubeFault({ status: 0, message: `${path}: an event is larger than ${WATCH_LINE_BYTES_MAX} bytes` });
        }
        if (complete.length > 0) return complete;
      }
    };
    return { next, close: opened.close };
  }

  /** Resolves with a response of status 200, 201 or 202, or rejects. `msMax`: until `begun`, or else until `close`. */
  async #open(request: Request, { signal, accept }: RequestLimits, msMax: number): Promise<Opened> {
    const { method, path, query = {}, body, contentType } = request;
    await this.#takeTurn(signal);
    const { credentials, userAgent } = this.#options;
    const { server, options } = await credentials.prepare().catch((error: unknown) => {
      throw new KubeFault({ status: 0, message: `credentials of the API server: ${textOf(error)}` });
    });
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      ...options.headers,
      accept: accept ?? 'application/json',
      'user-agent': userAgent,
      // Node frames the body of a DELETE only if its length is given.
      ...(text === undefined
        ? {}
        : { 'content-type': contentType ?? 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    const url = new URL(`${server.pathname.replace(/\/$/, '')}${path}${textOfQuery(query)}`, server);
    const send = server.protocol === 'http:' ? requestHttp : requestHttps;
    const sent = send(url, { ...options, headers, method });
    let late = false;
    let received: IncomingMessage | undefined;
    // Not after the answer is read: the connection may serve another request by then.
    const abort = (): void => {
      if (received?.complete !== true) sent.destroy();
    };
    const timer = setTimeout(() => {
      late = true;
      abort();
    }, msMax);
    signal.addEventListener('abort', abort);
    const close = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      abort();
    };
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        sent.on('response', resolve);
        sent.on('error', reject);
        sent.on('close', () => reject(new Error('the connection was closed')));
        sent.end(text);
        if (signal.aborted) abort();
      });
      received = response;
      // Without a listener, an error of the stream would end the process.
      response.on('error', () => undefined);
      if (!SUCCEEDED.includes(response.statusCode ?? 0)) throw await refusal(response, path);
      return { response, begun: () => clearTimeout(timer), close };
    } catch (error) {
      close();
      const fault = faultOf(error, path, late ? msMax : undefined);
      if (fault.failure.status === 401) await credentials.refused().catch(() => undefined);
      throw fault;
    }
  }

  async #takeTurn(signal: AbortSignal): Promise<void> {
    const { limit, chance } = this.#options;
    const [bucket, ms] = takeToken(limit, this.#bucket, chance.now());
    this.#bucket = bucket;
    if (ms > 0) await sleep(chance, ms, signal);
  }
}

type Request = Omit<WriteRequest, 'method'> & { readonly method: WriteMethod | 'GET' };

const SUCCEEDED: readonly number[] = [200, 201, 202];

interface Opened {
  readonly response: IncomingMessage;
  /** Stops the timeout. */
  begun(): void;
  close(): void;
}

async function answerOf(opened: Opened, path: string, bytesMax: number): Promise<Json> {
  try {
    return await listIn(chunksOf(opened.response, path, bytesMax));
  } catch (error) {
    throw faultOf(error, path);
  } finally {
    opened.close();
  }
}

async function bodyOf(response: IncomingMessage, path: string, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(response, path, bytesMax)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function* chunksOf(response: IncomingMessage, path: string, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new KubeFault({
        status: 0,
        message: `${path}: the answer is larger than ${bytesMax} bytes`,
        tooLarge: true,
      });
    }
    yield chunk;
  }
}

/** The error of an answer; with the server's own message if the answer is a Status. */
async function refusal(response: IncomingMessage, path: string): Promise<KubeFault> {
  const status = response.statusCode ?? 0;
  const body = await bodyOf(response, path, ERROR_BYTES_MAX).catch(() => '');
  const said = statusIn(body);
  const retryAfter = Number(response.headers['retry-after']);
  const message = `${path}: ${status}${said === undefined ? '' : ` ${said.message}`}`;
  return new KubeFault({
    status: said?.status === 410 ? 410 : status,
    message,
    ...(said?.reason === undefined ? {} : { reason: said.reason }),
    ...(retryAfter > 0 ? { retryAfterMs: retryAfter * 1_000 } : {}),
  });
}

function statusIn(body: string): Failure | undefined {
  try {
    const value = JSON.parse(body) as Json;
    return isObject(value) && value.kind === 'Status' ? failureOfStatus(value) : undefined;
  } catch {
    return undefined;
  }
}

function faultOf(error: unknown, path: string, timedOutMs?: number): KubeFault {
  if (error instanceof KubeFault) return error;
  const why = timedOutMs === undefined ? textOf(error) : `no answer within ${timedOutMs / 1_000} s`;
  return new KubeFault({ status: 0, message: `${path}: ${why}` });
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

function textOfQuery(query: Query): string {
  const given = Object.entries(query).filter((one): one is [string, string] => one[1] !== undefined && one[1] !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}
