// Keys that tokens are verified with, as objects of the source `issuers/<cluster>`: from a file, from the API server,
// from an OpenID provider. Asked for again every few minutes; an answer that fails changes nothing, so the last good
// one stays, over a restart too.

import { readFile } from 'node:fs/promises';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../../adapters/adapter.ts';
import { isObject, type Json } from '../../core/base/json.ts';
import { identityObject } from '../../core/kinds/periplus/identity.ts';
import type { ClusterCall } from '../cluster-call.ts';
import { refusalOf } from '../cluster-call.ts';
import { issuerName } from '../issuer-keys.ts';
import { download } from './download.ts';

/** One issuer: where its keys are, and under which name they are kept. */
export interface Issuer {
  readonly name: string;
  /** Rejects with why they cannot be had. */
  readonly fetch: () => Promise<{ readonly issuer: string; readonly jwks: Json }>;
}

export const REFRESH_MS = 60_000;
const RETRY_MS = 5_000;

export interface IssuerAdapterOptions {
  readonly cluster: string;
  readonly issuers: readonly Issuer[];
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  readonly log: AdapterLog;
}

export class IssuerAdapter implements Adapter {
  readonly source: string;
  readonly #options: IssuerAdapterOptions;
  readonly #troubles = new Map<string, string>();
  readonly #timers = new Map<string, { cancel(): void }>();
  #sink: Sink | undefined;
  #isStopped = false;

  constructor(options: IssuerAdapterOptions) {
    this.#options = options;
    this.source = `issuers/${options.cluster}`;
  }

  async start(sink: Sink): Promise<void> {
    this.#sink = sink;
    const { issuers } = this.#options;
    await Promise.all(issuers.map(issuer => this.#ask(issuer)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) timer.cancel();
  }

  /** Always synced: without keys no token is accepted, and everything else works. */
  status(): SourceStatus {
    return { synced: true, waiting: [], troubles: [...this.#troubles.values()].sort(), unreadable: [] };
  }

  async #ask(issuer: Issuer): Promise<void> {
    const { after, log } = this.#options;
    const { name } = issuer;
    let ms = REFRESH_MS;
    try {
      const { issuer: text, jwks } = await issuer.fetch();
      if (!isObject(jwks) || !Array.isArray(jwks.keys)) throw new Error('the answer is no JSON Web Key Set');
      const spec = { issuer: text, jwks: JSON.stringify(publicHalves(jwks.keys)) };
      await this.#sink?.submit([{ kind: 'Update', object: identityObject('TokenIssuer', '', issuerName(name), spec) }]);
      this.#troubles.delete(name);
    } catch (error) {
      const why = `keys of tokens (${name}): ${error instanceof Error ? error.message : String(error)}`;
      if (this.#troubles.get(name) !== why) log('warn', why);
      this.#troubles.set(name, why);
      ms = RETRY_MS;
    }
    if (!this.#isStopped)
      this.#timers.set(
        name,
        after(ms, () => void this.#ask(issuer)),
      );
  }
}

/** A file may hold whole keys; what signs tokens must not be recorded. */
function publicHalves(keys: readonly Json[]): Json {
  const isPublic = ([member]: readonly [string, unknown]): boolean => PUBLIC_MEMBERS.includes(member);
  const usable = keys.filter(isObject).filter(({ kty }) => kty !== 'oct');
  return { keys: usable.map(key => Object.fromEntries(Object.entries(key).filter(isPublic))) };
}

/** RFC 7518 §6, RFC 7517 §4: everything that is not a part of a private key. */
const PUBLIC_MEMBERS: readonly string[] = ['kty', 'use', 'key_ops', 'alg', 'kid', 'crv', 'x', 'y', 'n', 'e'];

export function fileIssuer(name: string, file: string, issuer: string): Issuer {
  return { name, fetch: async () => ({ issuer, jwks: JSON.parse(await readFile(file, 'utf8')) as Json }) };
}

/**
 * The API server publishes who issues its tokens and with which keys (right: system:service-account-issuer-discovery).
 */
export function clusterIssuer(name: string, call: ClusterCall): Issuer {
  const get = async (path: string): Promise<Json> => {
    const { status, body } = await call('GET', path);
    if (status !== 200) throw new Error(`${path}: ${refusalOf(status, body)}`);
    return body;
  };
  return {
    name,
    fetch: async () => {
      const [about, jwks] = [await get('/.well-known/openid-configuration'), await get('/openid/v1/jwks')];
      if (!isObject(about) || typeof about.issuer !== 'string') throw new Error('the API server names no issuer');
      return { issuer: about.issuer, jwks };
    },
  };
}

/** An OpenID provider: keys at `jwksUri`, or where discovery says. */
export function providerIssuer(name: string, issuer: string, jwksUri: string): Issuer {
  return {
    name,
    fetch: async () => {
      if (jwksUri !== '') return { issuer, jwks: await jsonAt(jwksUri) };
      const about = await jsonAt(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
      if (!isObject(about) || about.issuer !== issuer || typeof about.jwks_uri !== 'string') {
        throw new Error('its discovery document names another issuer or no keys');
      }
      return { issuer, jwks: await jsonAt(about.jwks_uri) };
    },
  };
}

async function jsonAt(url: string): Promise<Json> {
  return JSON.parse(await download(url)) as Json;
}
