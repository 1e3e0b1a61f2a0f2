// Roots of other trust domains behind the SPIFFE bundle URLs of MeshConfig, as objects of the source
// `bundles/<cluster>`: fetched when the list of URLs changes and every half hour.
//
// An answer that fails changes nothing, so the last good one stays, over a restart too; istiod withdraws the roots.
// Source: Istio pilot/pkg/trustbundle/trustbundle.go (fetchRemoteTrustBundles), pkg/spiffe/spiffe.go
// (RetrieveSpiffeBundleRootCerts); SPIFFE Trust Domain and Bundle §4.

import { createHash, X509Certificate } from 'node:crypto';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../../adapters/adapter.ts';
import { isObject, type Json } from '../../core/base/json.ts';
import { IDENTITY_API, identityObject } from '../../core/kinds/periplus/identity.ts';
import type { State } from '../../core/state.ts';
import { pemOf } from '../x509/pem.ts';
import { download } from './download.ts';

export const REFRESH_MS = 30 * 60_000;
export const RETRY_MS = 30_000;
/** Certificates of one bundle, and URLs, that are used: the first ones. */
export const CERTIFICATES_MAX = 100;
export const URLS_MAX = 100;

export interface BundleAdapterOptions {
  readonly cluster: string;
  /** Runs once, not before `ms` have passed. */
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  readonly log: AdapterLog;
  /** The body of an answer, in bounded time; rejects with why there is none. */
  readonly download?: (url: string) => Promise<string>;
}

export class BundleAdapter implements Adapter {
  readonly source: string;
  readonly #options: BundleAdapterOptions;
  readonly #download: (url: string) => Promise<string>;
  /** URL → when it is fetched again; undefined: it is being fetched. */
  readonly #urls = new Map<string, { cancel(): void } | undefined>();
  readonly #troubles = new Map<string, string>();
  #authorities: Json | undefined;
  #state: State | undefined;
  #sink: Sink | undefined;
  #isStopped = false;

  constructor(options: BundleAdapterOptions) {
    this.#options = options;
    this.#download = options.download ?? downloadSecurely;
    this.source = `bundles/${options.cluster}`;
  }

  onState(state: State): void {
    this.#state = state;
    this.#follow();
  }

  async start(sink: Sink): Promise<void> {
    this.#sink = sink;
    const wanted = new Set(bundleUrls(this.#state).map(nameOf));
    for (const { name } of this.#state?.objects.SpiffeBundle.values() ?? []) {
      if (!wanted.has(name)) await this.#forget(name);
    }
    this.#follow();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#urls.values()) timer?.cancel();
  }

  /** Nothing that is served waits for it. */
  status(): SourceStatus {
    return { synced: true, waiting: [], troubles: [...this.#troubles.values()].sort(), unreadable: [] };
  }

  #follow(): void {
    const authorities = authoritiesIn(this.#state);
    if (this.#sink === undefined || this.#isStopped || authorities === this.#authorities) return;
    this.#authorities = authorities;
    const wanted = new Set(bundleUrls(this.#state));
    for (const [url, timer] of this.#urls) {
      if (wanted.has(url)) continue;
      timer?.cancel();
      this.#urls.delete(url);
      this.#troubles.delete(url);
      void this.#forget(nameOf(url));
    }
    for (const url of wanted) if (!this.#urls.has(url)) void this.#fetch(url);
  }

  async #fetch(url: string): Promise<void> {
    const { after, log } = this.#options;
    this.#urls.set(url, undefined);
    let ms = REFRESH_MS;
    try {
      const certificates = certificatesIn(await this.#download(withScheme(url)));
      if (!this.#urls.has(url) || this.#isStopped) return;
      const object = identityObject('SpiffeBundle', '', nameOf(url), { url, certificates });
      await this.#sink?.submit([{ kind: 'Update', object }]);
      this.#troubles.delete(url);
    } catch (error) {
      ms = RETRY_MS;
      const why = `SPIFFE bundle ${url}: ${error instanceof Error ? error.message : String(error)}`;
      if (this.#urls.has(url) && this.#troubles.get(url) !== why) log('warn', why);
      if (this.#urls.has(url)) this.#troubles.set(url, why);
    }
    if (this.#urls.has(url) && !this.#isStopped) {
      this.#urls.set(
        url,
        after(ms, () => void this.#fetch(url)),
      );
    }
  }

  async #forget(name: string): Promise<void> {
    const ref = { apiVersion: IDENTITY_API, kind: 'SpiffeBundle', namespace: '', name };
    await this.#sink?.submit([{ kind: 'Delete', ref }]);
  }
}

function authoritiesIn(state: State | undefined): Json | undefined {
  return (state?.mesh.effective as { readonly caCertificates?: Json } | undefined)?.caCertificates;
}

/** URLs of the authorities that have no certificate of their own, each once, in their order. */
function bundleUrls(state: State | undefined): readonly string[] {
  const authorities = authoritiesIn(state);
  const urls = (Array.isArray(authorities) ? authorities : []).flatMap(authority => {
    if (!isObject(authority) || authority.pem) return [];
    const { spiffeBundleUrl: url } = authority;
    return typeof url === 'string' && url !== '' ? [url] : [];
  });
  return [...new Set(urls)].slice(0, URLS_MAX);
}

function nameOf(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 32);
}

function withScheme(url: string): string {
  return url.includes('://') ? url : `https://${url}`;
}

/** PEM. Throws if the text is no bundle with at least one authority for X.509. */
export function certificatesIn(text: string): readonly string[] {
  const bundle = JSON.parse(text) as Json;
  const keys = isObject(bundle) && Array.isArray(bundle.keys) ? bundle.keys.filter(isObject) : [];
  const found = keys
    .filter(({ use }) => use === 'x509-svid')
    .map(({ x5c }) => {
      const chain: readonly Json[] = Array.isArray(x5c) ? x5c : [];
      if (chain.length !== 1) throw new Error(`a key has ${chain.length} certificates in place of one`);
      const certificate = new X509Certificate(Buffer.from(String(chain[0]), 'base64'));
      if (!certificate.ca) throw new Error('a certificate is not that of an authority');
      return pemOf('CERTIFICATE', certificate.raw);
    });
  if (found.length === 0) throw new Error('the bundle has no certificate for X.509 identities');
  return found.slice(0, CERTIFICATES_MAX);
}

async function downloadSecurely(url: string): Promise<string> {
  if (!url.startsWith('https://')) throw new Error('expected https');
  return download(url);
}
