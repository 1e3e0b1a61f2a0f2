// The ID token of the auth provider `oidc`, renewed with its refresh token when it expires. Renewed tokens stay in
// memory: the kubeconfig is not written. Answers are bounded in time and size; no value of them is ever quoted.
// Source: OpenID Connect Discovery 1.0 §4, OpenID Connect Core 1.0 §12, RFC 6749 §2.3.1 and §6.

import { readFile } from 'node:fs/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';

/** A token is renewed this long before it expires. */
const EARLY_MS = 10_000;
const ANSWER_MS_MAX = 10_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

type Settings = Readonly<Record<string, string>>;

export class OidcToken {
  readonly #settings: Settings;
  #token: string;
  #refreshToken: string;
  /** A refresh token may be good for one use: requests that come together share the renewal. */
  #renewing: Promise<void> | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#token = settings['id-token'] ?? '';
    this.#refreshToken = settings['refresh-token'] ?? '';
  }

  /** Undefined: there is none. Rejects if an expired one cannot be renewed. */
  async current(now: number): Promise<string | undefined> {
    if (this.#token !== '' && expiryOf(this.#token) - EARLY_MS > now) return this.#token;
    const issuer = this.#settings['idp-issuer-url'] ?? '';
    if (issuer === '' || this.#refreshToken === '') return this.#token === '' ? undefined : this.#token;
    this.#renewing ??= this.#renew(issuer).finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
    return this.#token;
  }

  async #renew(issuer: string): Promise<void> {
    const ca = await caOf(this.#settings);
    const discovered = await ask(new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`), ca);
    const endpoint = discovered.token_endpoint;
    if (typeof endpoint !== 'string') throw new Error(`OIDC: ${issuer} names no token_endpoint`);
    const id = this.#settings['client-id'] ?? '';
    const secret = this.#settings['client-secret'] ?? '';
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: this.#refreshToken });
    const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
    const methods = discovered.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    if (secret !== '' && Array.isArray(methods) && methods.includes('client_secret_basic')) {
      headers.authorization = basic(encodeURIComponent(id), encodeURIComponent(secret));
    } else {
      form.set('client_id', id);
      if (secret !== '') form.set('client_secret', secret);
    }
    const answer = await ask(new URL(endpoint), ca, { headers, body: form.toString() });
    if (typeof answer.id_token !== 'string') throw new Error(`OIDC: ${issuer} gave no id_token`);
    this.#token = answer.id_token;
    if (typeof answer.refresh_token === 'string') this.#refreshToken = answer.refresh_token;
  }
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** ms since the epoch; 0: the token does not say. */
function expiryOf(token: string): number {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as Json;
    return isObject(claims) && typeof claims.exp === 'number' ? claims.exp * 1_000 : 0;
  } catch {
    return 0;
  }
}

async function caOf(settings: Settings): Promise<string | undefined> {
  const data = settings['idp-certificate-authority-data'];
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  const file = settings['idp-certificate-authority'];
  return file ? readFile(file, 'utf8') : undefined;
}

interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A JSON object by GET or POST. Over TLS, except from this machine. */
async function ask(url: URL, ca: string | undefined, post?: Post): Promise<JsonObject> {
  if (url.protocol !== 'https:' && !LOOPBACK.includes(url.hostname))
    throw new Error(`OIDC: ${url.origin} is not https`);
  const open = url.protocol === 'http:' ? requestHttp : requestHttps;
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const text = await new Promise<string>((done, fail) => {
    const options = { method: post === undefined ? 'GET' : 'POST', headers: post?.headers, signal, ca };
    const sent = open(url, options, response => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
        if (body.length > ANSWER_BYTES_MAX) sent.destroy(new Error('the answer is too large'));
      });
      response.on('error', fail);
      response.on('end', () => (response.statusCode === 200 ? done(body) : fail(new Error(`${response.statusCode}`))));
    });
    sent.on('error', fail);
    sent.end(post?.body);
  }).catch((error: unknown) => {
    throw new Error(`OIDC: ${url.origin}${url.pathname}: ${error instanceof Error ? error.message : String(error)}`);
  });
  const value = JSON.parse(text) as Json;
  if (!isObject(value)) throw new Error(`OIDC: ${url.origin}${url.pathname}: the answer is no object`);
  return value;
}
