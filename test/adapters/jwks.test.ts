// The JWKS adapter: which key sets it fetches, when again, what of the answers becomes a fact, and what stays while an
// issuer is away. Time is virtual, issuers are a table. How a request is made: jwks-fetch.test.ts.

import { describe, expect, it } from 'vitest';
import type { Fetched } from '../../src/adapters/jwks/fetch.ts';
import { JwksAdapter } from '../../src/adapters/jwks/jwks-adapter.ts';
import { KEEP_MS, REFRESH_MS, RETRY_MS_MIN } from '../../src/adapters/jwks/limits.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { State } from '../../src/core/state.ts';
import { FoldingSink } from '../../src/testing/adapter-rig.ts';
import { put, remove, world } from '../unit/world.ts';
import { VirtualTime } from './virtual-time.ts';

const SOURCE = 'jwks/Kubernetes';
const ISSUER = 'https://issuer.example';
const KEYS = '{"keys":[{"kty":"RSA","kid":"a","e":"AQAB","n":"AQAB"},{"kty":"RSA","kid":"b","e":"AQAB","n":"AQAC"}]}';
const REORDERED =
  '{"keys":[{"kty":"RSA","kid":"b","n":"AQAC","e":"AQAB"},{"kty":"RSA","kid":"a","e":"AQAB","n":"AQAB"}]}';
const OTHER = '{"keys":[{"kty":"RSA","kid":"c","e":"AQAB","n":"AQAD"}]}';

const policy = (...rules: readonly JsonObject[]): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'RequestAuthentication',
  metadata: { namespace: 'foo', name: 'tokens' },
  spec: { jwtRules: rules },
});
const byUri = { issuer: ISSUER, jwksUri: `${ISSUER}/keys` };

class Scene {
  readonly time = new VirtualTime();
  /** What each URI answers; what is not there does not answer. */
  readonly answers = new Map<string, string>();
  readonly asked: string[] = [];
  readonly logged: string[] = [];
  readonly sink: FoldingSink;
  readonly adapter: JwksAdapter;
  fetched = { good: 0, bad: 0 };

  constructor(state: State, refreshMs = 0) {
    this.sink = new FoldingSink(SOURCE, { state });
    this.adapter = new JwksAdapter({
      cluster: 'Kubernetes',
      fetch: async (uri): Promise<Fetched> => {
        this.asked.push(uri);
        const body = this.answers.get(uri);
        return body === undefined ? { failed: 'no answer' } : { body };
      },
      now: () => this.time.now(),
      after: (ms, run) => this.time.after(ms, run),
      refreshMs,
      onFetched: good => {
        this.fetched[good ? 'good' : 'bad']++;
      },
      log: (level, message) => this.logged.push(`${level} ${message}`),
    });
    this.adapter.onState(state);
  }

  folded(state: State): void {
    this.sink.state = state;
    this.adapter.onState(state);
  }

  /** The recorded key sets. */
  get keys(): readonly string[] {
    const documents = [...this.sink.state.objects.JwksDocument.values()] as readonly { readonly spec: unknown }[];
    return documents.map(({ spec }) => (spec as { readonly keys: string }).keys);
  }

  /** Starts, while time passes. */
  async start(): Promise<void> {
    let ended = false;
    const started = this.adapter.start(this.sink).finally(() => {
      ended = true;
    });
    await this.time.until(() => ended, RETRY_MS_MIN);
    await started;
    this.adapter.onState(this.sink.state);
  }

  async pass(ms: number): Promise<void> {
    await this.time.pass(ms);
    this.adapter.onState(this.sink.state);
  }
}

describe('the JWKS adapter', () => {
  it('requests nothing where no rule needs a key set, and is ready at once', async () => {
    const scene = new Scene(world([policy({ issuer: ISSUER, jwks: KEYS })]));
    expect(scene.adapter.status()).toMatchObject({ synced: true });
    await scene.start();
    expect(scene.asked).toEqual([]);
  });

  it('is ready after the first attempts, successful or not', async () => {
    const scene = new Scene(world([policy(byUri)]));
    expect(scene.adapter.status()).toMatchObject({ synced: false, waiting: ['JwksDocument'] });
    await scene.start();
    expect(scene.adapter.status().synced).toBe(true);
    expect(scene.adapter.status().troubles).toEqual([
      `the key set of ${ISSUER} could not be fetched (${ISSUER}/keys: no answer); the last answer stays`,
    ]);
  });

  it('records what an issuer answers, fetched where its discovery document says', async () => {
    const scene = new Scene(world([policy({ issuer: `${ISSUER}/` })]));
    scene.answers.set(`${ISSUER}/.well-known/openid-configuration`, `{"jwks_uri":"${ISSUER}/found"}`);
    scene.answers.set(`${ISSUER}/found`, KEYS);
    await scene.start();
    expect(scene.keys).toEqual([KEYS]);
    expect(scene.fetched).toEqual({ good: 1, bad: 0 });
  });

  it('keeps the recorded text where the same keys come in another order', async () => {
    const scene = new Scene(world([policy(byUri)]));
    scene.answers.set(byUri.jwksUri, KEYS);
    await scene.start();
    scene.answers.set(byUri.jwksUri, REORDERED);
    await scene.pass(REFRESH_MS);
    expect(scene.keys).toEqual([KEYS]);
    scene.answers.set(byUri.jwksUri, OTHER);
    await scene.pass(REFRESH_MS);
    expect(scene.keys).toEqual([OTHER]);
  });

  it('serves the last good answer while the issuer is away, seven days long', async () => {
    const scene = new Scene(world([policy(byUri)]));
    scene.answers.set(byUri.jwksUri, KEYS);
    await scene.start();
    scene.answers.clear();
    await scene.pass(KEEP_MS - REFRESH_MS);
    expect(scene.keys).toEqual([KEYS]);
    await scene.pass(KEEP_MS);
    expect(scene.keys).toEqual([]);
  });

  it('records the answers of a restart beside what the journal has, and keeps that of an issuer that is away', async () => {
    const first = new Scene(world([policy(byUri)]));
    first.answers.set(byUri.jwksUri, KEYS);
    await first.start();
    const second = new Scene(first.sink.state);
    await second.start();
    expect(second.keys).toEqual([KEYS]);
  });

  it('tries again soon after a failure, and less often the longer it lasts', async () => {
    const scene = new Scene(world([policy(byUri)]));
    await scene.start();
    const tries = scene.asked.length;
    expect(tries).toBeGreaterThan(1);
    await scene.pass(RETRY_MS_MIN);
    expect(scene.asked.length).toBe(tries + 1);
    await scene.pass(RETRY_MS_MIN);
    expect(scene.asked.length).toBe(tries + 1);
    scene.answers.set(byUri.jwksUri, KEYS);
    await scene.pass(RETRY_MS_MIN);
    expect(scene.keys).toEqual([KEYS]);
  });

  it('deletes the keys of an issuer that no rule names any more', async () => {
    const scene = new Scene(world([policy(byUri)]));
    scene.answers.set(byUri.jwksUri, KEYS);
    await scene.start();
    scene.folded(remove(scene.sink.state, policy(byUri)).state);
    await scene.pass(1);
    expect(scene.keys).toEqual([]);
  });

  it('fetches one key set once for all rules that name it', async () => {
    const other = { ...policy({ ...byUri, audiences: ['a'] }), metadata: { namespace: 'bar', name: 'tokens' } };
    const scene = new Scene(put(world([policy(byUri)]), other).state);
    scene.answers.set(byUri.jwksUri, KEYS);
    await scene.start();
    expect(scene.asked).toEqual([byUri.jwksUri]);
  });

  it.each([
    ['not JSON', 'hello'],
    ['no key set', '{"a":1}'],
  ])('never records an answer that is %s', async (_, body) => {
    const scene = new Scene(world([policy(byUri)]));
    scene.answers.set(byUri.jwksUri, body);
    await scene.start();
    expect(scene.keys).toEqual([]);
    expect(scene.adapter.status().troubles).toHaveLength(1);
  });

  it('records no private half of a key', async () => {
    const scene = new Scene(world([policy(byUri)]));
    scene.answers.set(byUri.jwksUri, '{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","d":"c2VjcmV0","p":"c2VjcmV0"}]}');
    await scene.start();
    expect(scene.keys).toEqual(['{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}']);
  });

  it('has symmetric keys where the journal seals them', async () => {
    const scene = new Scene(world([policy(byUri)]));
    const keys = '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}';
    scene.answers.set(byUri.jwksUri, keys);
    await scene.start();
    expect(scene.keys).toEqual([keys]);
    const [record] = [...scene.sink.state.records.range('JwksDocument|')];
    expect(record?.raw).toMatchObject({ stringData: { keys } });
    expect(JSON.stringify(record?.raw?.spec)).not.toContain('c2VjcmV0');
  });
});
