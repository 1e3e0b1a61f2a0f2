// One GET for JSON, bounded in time and size, with TLS material of its own. node:http is used and not fetch(), because
// fetch() takes no certificate authority and no client certificate without another library.
//
// Invariant: no header that was sent (a token is one) is in a message of failure.

import http from 'node:http';
import https from 'node:https';
import type { Json } from '../../core/base/json.ts';

export interface ClientTls {
  /** PEM of the certificate authorities; absent: the system's. */
  readonly ca?: string;
  /** PEM of the client certificate and its key. */
  readonly cert?: string;
  readonly key?: string;
  /** The name that the server's certificate must have; absent: the host of the URL. */
  readonly serverName?: string;
}

export interface JsonRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
  readonly signal?: AbortSignal;
  readonly tls?: ClientTls;
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Undefined if the status is not 2xx. */
  readonly body: Json | undefined;
  /** The beginning of the body of another status. */
  readonly text: string;
}

const TEXT_LENGTH_MAX = 200;

/** Rejects with an Error whose message says why there is no answer. */
export function getJson(url: URL, request: JsonRequest): Promise<JsonAnswer> {
  const { headers, timeoutMs, signal, tls = {} } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signals = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => reject(failureOf(error, timeout.aborted ? timeoutMs : undefined));
    const listen = (response: http.IncomingMessage): void => {
      answerOf(response, request.bodyBytesMax).then(resolve, failed);
    };
    const { ca, cert, key, serverName: servername } = tls;
    const options = { headers: { accept: 'application/json', ...headers }, signal: signals };
    const sent =
      url.protocol === 'https:'
        ? https.get(url, { ...options, minVersion: 'TLSv1.2', ca, cert, key, servername, agent: false }, listen)
        : http.get(url, { ...options, agent: false }, listen);
    sent.on('error', failed);
  });
}

function failureOf(error: unknown, timedOutAfterMs: number | undefined): Error {
  if (timedOutAfterMs !== undefined) return new Error(`no answer within ${timedOutAfterMs} ms`);
  const { message, code } = error as NodeJS.ErrnoException;
  return new Error(message || code || 'the request failed');
}

async function answerOf(response: http.IncomingMessage, bytesMax: number): Promise<JsonAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) {
      response.destroy();
      throw new Error(`the answer is larger than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  const { statusCode: status = 0, headers } = response;
  const text = Buffer.concat(chunks).toString('utf8');
  if (status < 200 || status > 299) return { status, headers, body: undefined, text: text.slice(0, TEXT_LENGTH_MAX) };
  try {
    return { status, headers, body: JSON.parse(text) as Json, text: '' };
  } catch {
    throw new Error('the answer is not JSON');
  }
}
