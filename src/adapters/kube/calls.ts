// Single requests to an API server on behalf of others in the process: reviews of tokens, the Secret of the certificate
// authority. What they mean is decided by who asks; here they are bounded in number, time and size, and errors become
// answers.

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Json } from '../../core/base/json.ts';
import { type CredentialOptions, type Credentials, loadCredentials } from './credentials.ts';

export type CallMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface CallAnswer {
  /** 0: there was no answer, and `body` says why. */
  readonly status: number;
  readonly body: Json;
}

/** Never rejects. */
export type Call = (method: CallMethod, path: string, body?: Json) => Promise<CallAnswer>;

/** Requests under way; further ones wait. */
export const CALLS_AT_ONCE_MAX = 64;
/** An answer that takes longer counts as none. */
export const CALL_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const UNAUTHORIZED = 401;

/** Rejects if the kubeconfig is unusable; the server need not be there. */
export async function connectCalls(
  options: CredentialOptions & { readonly userAgent: string },
): Promise<{ readonly call: Call; close(): void }> {
  const credentials = await loadCredentials(options);
  return { call: callsWith(credentials, options.userAgent), close: () => credentials.close() };
}

/** Requests with credentials that others use too. */
export function callsWith(credentials: Credentials, userAgent: string): Call {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  const send: Call = async (method, path, body) => {
    const { server, options: prepared } = await credentials.prepare();
    const url = new URL(`${server.pathname.replace(/\/$/, '')}${path}`, server);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      ...prepared.headers,
      // The keys of tokens are served as application/jwk-set+json only.
      accept: 'application/json, application/jwk-set+json',
      'user-agent': userAgent,
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    return new Promise((resolve, reject) => {
      const open = server.protocol === 'http:' ? requestHttp : requestHttps;
      const sent = open(url, { ...prepared, headers, method, signal: AbortSignal.timeout(CALL_MS_MAX) }, response => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > ANSWER_BYTES_MAX) sent.destroy(new Error(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`));
          else chunks.push(chunk);
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: jsonOf(Buffer.concat(chunks)) }));
      });
      sent.on('error', reject);
      sent.end(text);
    });
  };
  return async (method, path, body) => {
    if (underWay >= CALLS_AT_ONCE_MAX) await new Promise<void>(resolve => waiting.push(resolve));
    underWay++;
    try {
      const answer = await send(method, path, body);
      if (answer.status === UNAUTHORIZED) await credentials.refused().catch(() => undefined);
      return answer;
    } catch (error) {
      return { status: 0, body: error instanceof Error ? error.message : String(error) };
    } finally {
      underWay--;
      waiting.shift()?.();
    }
  };
}

function jsonOf(bytes: Buffer): Json {
  try {
    return JSON.parse(bytes.toString('utf8')) as Json;
  } catch {
    return null;
  }
}
