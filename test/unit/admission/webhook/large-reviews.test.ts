// Reviews with more values than the event loop takes: validated in a thread, over real sockets.

import { request } from 'node:https';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { InjectorInForce } from '../../../../src/admission/inject/in-force.ts';
import { REVIEW_MARKS_MAX, ReviewShape } from '../../../../src/admission/webhook/review-shape.ts';
import { BODY_BYTES_MAX, WebhookServer } from '../../../../src/admission/webhook/server.ts';
import { type ValidationBudget, ValidationThread } from '../../../../src/admission/webhook/validation-thread.ts';
import { webhookMetrics } from '../../../../src/admission/webhook/webhook-metrics.ts';
import { Webhooks } from '../../../../src/admission/webhook/webhooks.ts';
import type { Json } from '../../../../src/core/base/json.ts';
import { signedServingCertificate } from '../../../../src/identity/serving.ts';
import { testAuthority } from '../../identity/authority-of-tests.ts';
import { stateWith } from '../inject/world.ts';

const TEST_MS = 60_000;
/** The thread of a test compiles TypeScript first, on a machine that may be busy. */
const BUDGET: ValidationBudget = { ms: 50_000, heapMiB: 512, idleMs: 50 };
const servers: WebhookServer[] = [];
const certificate = testAuthority(() => Date.now()).then(authority =>
  signedServingCertificate(authority, ['istiod.istio-system.svc']),
);
afterEach(() => Promise.all(servers.splice(0).map(server => server.close(100))));

interface Served {
  readonly post: (path: string, body: string) => Promise<string>;
  readonly thread: ValidationThread;
  readonly registry: Registry;
}

async function served(budget: Partial<ValidationBudget> = {}): Promise<Served> {
  const registry = new Registry();
  const counts = webhookMetrics(registry);
  const log = (): void => undefined;
  const thread = new ValidationThread({ ...BUDGET, ...budget });
  const webhooks = new Webhooks({ state: () => stateWith(), injector: new InjectorInForce(log), counts, log });
  const parts = { webhooks, counts, log, ready: () => true, injects: true, minVersion: 'TLSv1.2', thread } as const;
  const server = new WebhookServer(parts);
  servers.push(server);
  server.use(await certificate);
  const port = await server.listen('127.0.0.1', 0);
  const post = (path: string, body: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { port, host: '127.0.0.1', path, method: 'POST', rejectUnauthorized: false };
      const sent = request({ ...options, headers: { 'content-type': 'application/json' } }, response => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(`${response.statusCode ?? 0} ${Buffer.concat(chunks).toString()}`));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  return { post, thread, registry };
}

function reviewOf(object: Json, oldObject: Json = null): string {
  const resource = { group: 'networking.istio.io', version: 'v1', resource: 'virtualservices' };
  const asked = { uid: 'u-1', namespace: 'shop', operation: 'UPDATE', resource, object, oldObject };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: asked });
}

function routes(count: number, port: number): Json {
  const http = Array.from({ length: count }, (_, i) => ({
    match: [{ uri: { prefix: `/path-${i}` }, headers: { version: { exact: 'v1' } } }],
    route: [{ destination: { host: 'cart', port: { number: port } }, weight: 100 }],
  }));
  const metadata = { name: 'cart', namespace: 'shop' };
  return { apiVersion: 'networking.istio.io/v1', kind: 'VirtualService', metadata, spec: { hosts: ['cart'], http } };
}

function marksOf(body: string): number {
  const shape = new ReviewShape(Infinity);
  shape.add(Buffer.from(body));
  return shape.marks;
}

describe('a review with more values than the event loop takes', () => {
  it(
    'is validated in a thread, counted, and the thread ends when it is idle',
    async () => {
      const { post, thread, registry } = await served();
      const [sound, wrong] = [routes(3_000, 80), routes(3_000, 70_000)];
      const body = reviewOf(sound, sound);
      expect(marksOf(body)).toBeGreaterThan(REVIEW_MARKS_MAX);
      expect(await post('/validate', body)).toMatch(/^200 .*"uid":"u-1","allowed":true/);
      expect(await post('/validate', reviewOf(wrong, sound))).toMatch(/^200 .*"uid":"u-1","allowed":false.*port/);
      await expect.poll(() => thread.isRunning, { timeout: 10_000 }).toBe(false);
      const counted = await registry.metrics();
      expect(counted).toMatch(/galley_validation_passed\{.*virtualservices"\} 1/);
      expect(counted).toMatch(/galley_validation_failed\{.*invalid_resource"\} 1/);
    },
    TEST_MS,
  );

  it(
    'is validated up to the limit of a body',
    async () => {
      const { post } = await served();
      const empty = reviewOf(routes(1, 80), []);
      const values = '0,'.repeat(Math.floor((BODY_BYTES_MAX - empty.length) / 2) - 1);
      const body = empty.replace('"oldObject":[]', `"oldObject":[${values}0]`);
      expect(marksOf(body)).toBeGreaterThan(3_000_000);
      expect(await post('/validate', body)).toMatch(/^200 .*"allowed":true/);
    },
    TEST_MS,
  );

  it('starts no thread for an injection, which is refused', async () => {
    const { post, thread } = await served();
    expect(await post('/inject', reviewOf(routes(6_000, 80)))).toMatch(/^400 the review has more than 100000/);
    expect(thread.isRunning).toBe(false);
  });

  it('needs no thread below that', async () => {
    const { post, thread } = await served();
    expect(await post('/validate', reviewOf(routes(10, 80)))).toMatch(/^200 .*"allowed":true/);
    expect(thread.isRunning).toBe(false);
  });

  it.each([
    ['time', { ms: 1 }, /^503 the review takes longer than 1 s to validate/],
    ['memory', { heapMiB: 8 }, /^503 the review needs more than 8 MiB to be validated/],
  ])(
    'has no verdict past its budget of %s, and the next review is answered',
    async (_, budget, answer) => {
      const { post, registry } = await served(budget);
      expect(await post('/validate', reviewOf(routes(6_000, 80)))).toMatch(answer);
      expect(await post('/validate', reviewOf(routes(1, 80)))).toMatch(/^200 .*"allowed":true/);
      expect(await registry.metrics()).toContain('galley_validation_http_error{status="503"} 1');
    },
    TEST_MS,
  );
});
