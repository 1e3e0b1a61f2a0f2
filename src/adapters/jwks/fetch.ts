// One GET for a key set or a discovery document: bounded in time, size and redirects, and never to an address that is
// blocked.
//
// node:http is used and not fetch(), because only it lets the address be checked that the connection really goes to.

import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type AddressRules, whyBlocked } from './blocked-addresses.ts';
import { BODY_BYTES_MAX, REDIRECTS_MAX } from './limits.ts';

export type Fetched = { readonly body: string } | { readonly failed: string };

/** Never rejects. */
export type Fetch = (uri: string, timeoutMs: number) => Promise<Fetched>;

export interface FetchOptions {
  readonly addresses: AddressRules;
  /** PEM of all roots that servers may be signed by; undefined: the system's. */
  readonly roots?: readonly string[];
  /** Certificates are not checked (JWKS_RESOLVER_INSECURE_SKIP_VERIFY). */
  readonly insecure: boolean;
}

export function httpFetch(options: FetchOptions): Fetch {
  return async (uri, timeoutMs) => {
    const signal = AbortSignal.timeout(timeoutMs);
    let next = uri;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      const answer = await get(next, options, signal).catch((error: unknown) => failureOf(error, timeoutMs));
      if (!('redirect' in answer)) return answer;
      next = answer.redirect;
    }
    return { failed: `more than ${REDIRECTS_MAX} redirects` };
  };
}

function failureOf(error: unknown, timeoutMs: number): Fetched {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (name === 'AbortError' || name === 'TimeoutError') return { failed: `no answer within ${timeoutMs} ms` };
  return { failed: message || code || 'the request failed' };
}

async function get(
  uri: string,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<Fetched | { readonly redirect: string }> {
  const url = urlOf(uri);
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return { failed: 'not an http(s) URL' };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const blocked = isIP(host) === 0 ? undefined : whyBlocked(host, options.addresses);
  if (blocked !== undefined) return { failed: blocked };
  return new Promise((resolve, reject) => {
    const shared = { signal, agent: false as const, lookup: checkedLookup(options.addresses) };
    const listen = (response: http.IncomingMessage): void => {
      const { statusCode = 0, headers } = response;
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
        response.destroy();
        const target = urlOf(headers.location, url);
        resolve(target === undefined ? { failed: 'redirected to what is no URL' } : { redirect: target.href });
        return;
      }
      if (statusCode < 200 || statusCode > 299) {
        response.destroy();
        resolve({ failed: `status ${statusCode}` });
        return;
      }
      bodyOf(response).then(resolve, reject);
    };
    const request =
      url.protocol === 'https:'
        ? https.get(url, { ...shared, minVersion: 'TLSv1.2', ...trustOf(options) }, listen)
        : http.get(url, shared, listen);
    request.on('error', reject);
  });
}

/** URL.parse came with Node 22. */
function urlOf(text: string, base?: URL): URL | undefined {
  return URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
}

function trustOf({ roots, insecure }: FetchOptions): https.RequestOptions {
  return { rejectUnauthorized: !insecure, ...(roots === undefined ? {} : { ca: [...roots] }) };
}

async function bodyOf(response: http.IncomingMessage): Promise<Fetched> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) {
      response.destroy();
      return { failed: `the answer is larger than ${BODY_BYTES_MAX} bytes` };
    }
    chunks.push(chunk);
  }
  return { body: Buffer.concat(chunks).toString('utf8') };
}

/** Resolves names as usual, and hands on only addresses that may be connected to. */
function checkedLookup(rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const allowed = found.filter(({ address }) => whyBlocked(address, rules) === undefined);
      const [first] = allowed;
      if (first === undefined) {
        const why = found.map(({ address }) => whyBlocked(address, rules)).find(reason => reason !== undefined);
        callback(new Error(why ?? `${hostname} has no address`), []);
        return;
      }
      if (options.all === true) callback(null, allowed as LookupAddress[]);
      else callback(null, first.address, first.family);
    });
  };
}
