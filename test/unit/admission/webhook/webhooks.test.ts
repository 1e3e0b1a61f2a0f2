// The webhooks over real sockets: reviews of both versions, what is refused before it is read, and what is counted.

import { request } from 'node:https';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InjectorInForce } from '../../../../src/admission/inject/in-force.ts';
import { envOfPath } from '../../../../src/admission/webhook/path-env.ts';
import { BODY_BYTES_MAX, WebhookServer } from '../../../../src/admission/webhook/server.ts';
import { webhookMetrics } from '../../../../src/admission/webhook/webhook-metrics.ts';
import { Webhooks } from '../../../../src/admission/webhook/webhooks.ts';
import { isObject, type Json, type JsonObject } from '../../../../src/core/base/json.ts';
import type { State } from '../../../../src/core/state.ts';
import { signedServingCertificate } from '../../../../src/identity/serving.ts';
import { testAuthority } from '../../identity/authority-of-tests.ts';
import { configMap, podWith, stateWith } from '../inject/world.ts';

interface Answered {
  readonly status: number;
  readonly body: string;
}

const registry = new Registry();
const counts = webhookMetrics(registry);
const lines: string[] = [];
let state: State;
let roots = '';
let port = 0;
let server: WebhookServer;

beforeAll(async () => {
  const log = (level: string, message: string): void => void lines.push(`${level} ${message}`);
  state = stateWith();
  const webhooks = new Webhooks({ state: () => state, injector: new InjectorInForce(log), counts, log });
  server = new WebhookServer({ webhooks, counts, log, ready: () => true, injects: true, minVersion: 'TLSv1.2' });
  const authority = await testAuthority(() => Date.now());
  const serving = await signedServingCertificate(authority, ['istiod.istio-system.svc']);
  roots = serving.roots;
  server.use(serving);
  port = await server.listen('127.0.0.1', 0);
});
afterAll(() => server.close(100));

function post(path: string, body: string, contentType = 'application/json'): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path, method: 'POST', ca: roots, servername: 'istiod.istio-system.svc' };
    const sent = request({ ...options, headers: { 'content-type': contentType } }, response => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function review(object: Json, more: JsonObject = {}, version = 'v1'): string {
  const asked = { uid: 'u-1', namespace: 'shop', operation: 'CREATE', object, ...more };
  return JSON.stringify({ apiVersion: `admission.k8s.io/${version}`, kind: 'AdmissionReview', request: asked });
}

async function reviewed(path: string, body: string): Promise<JsonObject> {
  const answer = JSON.parse((await post(path, body)).body) as JsonObject;
  return { ...answer, ...(isObject(answer.response) ? answer.response : {}) };
}

const virtualService = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'cart', namespace: 'shop' },
  spec,
  ...more,
});
const sound = { hosts: ['cart'], http: [{ route: [{ destination: { host: 'cart' } }] }] };

describe('The injection webhook', () => {
  it.each(['v1', 'v1beta1'])('answers a review of %s in its version with a patch', async version => {
    const answer = await reviewed('/inject/cluster/c1', review(podWith(), {}, version));
    expect(answer).toMatchObject({
      apiVersion: `admission.k8s.io/${version}`,
      uid: 'u-1',
      allowed: true,
      patchType: 'JSONPatch',
    });
    expect(Buffer.from(String(answer.patch), 'base64').toString()).toContain('"c1"');
  });

  it('answers a skipped pod without a patch, and a refused one with the reason', async () => {
    const skipped = await reviewed('/inject', review(podWith({ labels: { 'sidecar.istio.io/inject': 'false' } })));
    expect(skipped).toMatchObject({ allowed: true });
    expect(skipped).not.toHaveProperty('patch');
    const refused = await reviewed(
      '/inject',
      review(podWith({ annotations: { 'inject.istio.io/templates': 'none' } })),
    );
    expect(refused).toMatchObject({ allowed: false, status: { message: expect.stringContaining('"none" not found') } });
  });

  it('answers what is no review with a refusal of v1beta1', async () => {
    expect(await reviewed('/inject', '{"kind":"Pod"}')).toMatchObject({
      apiVersion: 'admission.k8s.io/v1beta1',
      allowed: false,
      uid: '',
    });
    expect((await post('/inject', '')).status).toBe(400);
    expect((await post('/inject', '{}', 'text/plain')).status).toBe(415);
    expect((await post('/inject', 'x'.repeat(BODY_BYTES_MAX + 1))).status).toBe(400);
    expect((await post('/else', '{}')).status).toBe(404);
  });

  it('keeps the last configuration that could be read', async () => {
    const before = state;
    state = stateWith({ objects: [configMap('policy: enabled\ntemplates: {sidecar: "{{"}')] });
    expect(await reviewed('/inject', review(podWith()))).toMatchObject({ allowed: true, patchType: 'JSONPatch' });
    expect(lines.some(line => line.includes("the injector's configuration stays as it was"))).toBe(true);
    state = before;
  });

  it('keeps the configuration of a ConfigMap that is deleted, and takes the next one', async () => {
    const before = state;
    const patchOf = async (): Promise<string> =>
      Buffer.from(String((await reviewed('/inject', review(podWith()))).patch), 'base64').toString();
    const proxy = (image: string): string =>
      `policy: enabled\ntemplates:\n  sidecar: "spec: {containers: [{name: istio-proxy, image: ${image}}]}"`;
    state = stateWith({ objects: [configMap(proxy('first'))] });
    expect(await patchOf()).toContain('"first"');
    state = stateWith();
    expect(await patchOf()).toContain('"first"');
    const gone = lines.filter(line => line.includes('ConfigMap istio-system/istio-sidecar-injector is gone'));
    await patchOf();
    expect(gone).toHaveLength(1);
    state = stateWith({ objects: [configMap(proxy('second'))] });
    expect(await patchOf()).toContain('"second"');
    state = stateWith({ objects: [configMap('{}}')] });
    expect(await patchOf()).toContain('"second"');
    state = before;
  });

  it('logs digests and no content', async () => {
    await post('/inject', review(podWith({ annotations: { secret: 'hush' } })));
    expect(lines.at(-1)).toMatch(
      /^info injection of shop\/cart-1: \d+ operations, request [0-9a-f]{16} patch [0-9a-f]{16}$/,
    );
    expect(lines.join('\n')).not.toContain('hush');
  });

  it('counts under the names of istiod', async () => {
    const metrics = await registry.metrics();
    for (const name of ['requests', 'success', 'failure', 'skip']) {
      expect(metrics).toMatch(new RegExp(`^sidecar_injection_${name}_total [1-9]`, 'm'));
    }
  });
});

describe('The validation webhook', () => {
  it.each([
    ['passes a sound object', virtualService(sound), undefined],
    [
      'passes one of a version that it does not know',
      virtualService(sound, { apiVersion: 'networking.istio.io/v9' }),
      undefined,
    ],
    [
      'refuses a broken one with its path',
      virtualService({ ...sound, http: [{ route: [{ destination: {} }] }] }),
      /^configuration is invalid: 1 error occurred:\n\t\* spec\.http\[0\][^\n]*\n\n$/,
    ],
    [
      'refuses an unknown member',
      virtualService(sound, { specc: 1 }),
      /^unknown field "specc" on VirtualService resource shop\/cart$/,
    ],
    [
      'refuses an unknown kind',
      virtualService(sound, { kind: 'Virtual' }),
      /^unrecognized type networking.istio.io\/v1, Kind=Virtual$/,
    ],
    [
      'refuses the object of the self-test',
      {
        apiVersion: 'networking.istio.io/v1',
        kind: 'Gateway',
        metadata: { name: 'invalid-gateway', annotations: { 'internal.istio.io/webhook-always-reject': 'true' } },
        spec: {},
      },
      /always rejected/,
    ],
  ])('%s', async (_, object, message) => {
    const answer = await reviewed('/validate', review(object as JsonObject));
    if (message === undefined) expect(answer).toMatchObject({ allowed: true });
    else expect(answer).toMatchObject({ allowed: false, status: { message: expect.stringMatching(message) } });
  });

  it('passes what is deleted', async () => {
    expect(await reviewed('/validate/', review(null, { operation: 'DELETE' }))).toMatchObject({ allowed: true });
  });
});

describe('The path of the injection webhook', () => {
  it.each([
    ['/inject', {}],
    ['/inject/cluster/c1/net/n1/', { ISTIO_META_CLUSTER_ID: 'c1', ISTIO_META_NETWORK: 'n1' }],
    ['/inject/own/a--slash--b/odd', { OWN: 'a/b' }],
    ['/inject/:ENV:cluster=c1:ENV:x=:ENV:=y', { ISTIO_META_CLUSTER_ID: 'c1', X: '' }],
  ])('%s names variables', (path, env) => {
    expect(envOfPath(path)).toEqual(env);
  });
});
