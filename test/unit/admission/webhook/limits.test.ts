// What a caller of the webhooks may cost: connections, bodies, shape and time of a review.

import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANNOTATIONS_CHARS_MAX, annotationFault } from '../../../../src/admission/inject/annotations.ts';
import { Bodies } from '../../../../src/admission/webhook/bodies.ts';
import { REVIEW_DEPTH_MAX, REVIEW_MARKS_MAX, ReviewShape } from '../../../../src/admission/webhook/review-shape.ts';
import { ReviewTurns } from '../../../../src/admission/webhook/review-turns.ts';
import { WEBHOOK_CONNECTIONS_MAX, WebhookServer } from '../../../../src/admission/webhook/server.ts';
import { PROXY_CONFIG_CHARS_MAX } from '../../../../src/core/mesh/pod-annotations.ts';
import { signedServingCertificate } from '../../../../src/identity/serving.ts';
import { testAuthority } from '../../identity/authority-of-tests.ts';

let answers = 0;
const counts = {
  injection: () => undefined,
  injectionSeconds: () => undefined,
  validation: () => undefined,
  httpError: () => undefined,
};
const webhooks = { inject: () => `${++answers}`, validate: () => `${++answers}` };
const server = new WebhookServer({
  webhooks: webhooks as never,
  counts,
  log: () => undefined,
  ready: () => true,
  injects: true,
  minVersion: 'TLSv1.2',
});
let port = 0;
const sockets: Socket[] = [];

beforeAll(async () => {
  const authority = await testAuthority(() => Date.now());
  server.use(await signedServingCertificate(authority, ['istiod.istio-system.svc']));
  port = await server.listen('127.0.0.1', 0);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close(100);
});

/** The status and the text of an answer. */
function post(body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/inject', method: 'POST', rejectUnauthorized: false };
    const sent = request({ ...options, headers: { 'content-type': 'application/json' } }, response => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(`${response.statusCode ?? 0} ${Buffer.concat(chunks).toString()}`));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('the port of the webhooks', () => {
  it('answers a review while silent connections take all places', async () => {
    const opened = Array.from({ length: WEBHOOK_CONNECTIONS_MAX + 10 }, () => connect(port, '127.0.0.1'));
    sockets.push(...opened);
    await Promise.all(
      opened.map(socket => new Promise<void>(resolve => socket.on('connect', resolve).on('error', () => resolve()))),
    );
    expect(await post('{}')).toMatch(/^200 /);
    for (const socket of opened) socket.destroy();
  });

  it('refuses a body that is nested too deep before it is parsed', async () => {
    expect(await post('['.repeat(1_000_000))).toMatch(/^400 the review is nested more than/);
  });

  it('ends a connection that asks again before it has its answer', async () => {
    const one = 'POST /inject HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';
    const before = answers;
    await new Promise<void>(resolve => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        socket.write(one.repeat(100));
      });
      socket.on('error', () => undefined).on('close', () => resolve());
      socket.resume();
    });
    expect(answers - before).toBeLessThanOrEqual(1);
  });
});

describe('the shape of a review', () => {
  const added = (...parts: readonly string[]): string | undefined => {
    const shape = new ReviewShape();
    return parts.map(part => shape.add(Buffer.from(part))).find(why => why !== undefined);
  };

  it('has a limit of depth, over all pieces of the body', () => {
    const half = '{"a":['.repeat(REVIEW_DEPTH_MAX / 4);
    expect(added(half, half)).toBeUndefined();
    expect(added(half, half, '[[[')).toMatch(/nested more than/);
    expect(added('[]'.repeat(REVIEW_DEPTH_MAX + 1))).toBeUndefined();
  });

  it('has a limit of brackets, commas and colons', () => {
    expect(added(','.repeat(REVIEW_MARKS_MAX))).toBeUndefined();
    expect(added(','.repeat(REVIEW_MARKS_MAX), ':')).toMatch(/more than/);
  });

  it('does not depend on what strings contain, escaped quotes included', () => {
    expect(added(`"${'[,'.repeat(REVIEW_MARKS_MAX)}`, `\\`, `"${'['.repeat(1_000)}"`)).toBeUndefined();
    expect(added(`"\\\\"${'['.repeat(1_000)}`)).toMatch(/nested/);
  });
});

describe('turns of reviews', () => {
  it('take one review in a tick, and addresses in turn', async () => {
    const turns = new ReviewTurns();
    const order: string[] = [];
    const all = ['a', 'a', 'a', 'b'].map(address => turns.run(address, () => order.push(address)));
    await new Promise(resolve => setImmediate(resolve));
    expect(order).toEqual(['a']);
    await Promise.all(all);
    expect(order).toEqual(['a', 'b', 'a', 'a']);
  });

  it('reject with what a review throws, and go on', async () => {
    const turns = new ReviewTurns();
    const failed = turns.run('a', () => {
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await turns.run('a', () => 1)).toBe(1);
  });
});

describe('bodies under way', () => {
  it('cut off the largest past the limit of all together', () => {
    const bodies = new Bodies(100);
    const cut: string[] = [];
    const [large, small] = [bodies.open(() => cut.push('large')), bodies.open(() => cut.push('small'))];
    bodies.grow(large, 90);
    bodies.grow(small, 20);
    expect(cut).toEqual(['large']);
    bodies.grow(small, 70);
    bodies.close(small);
    bodies.grow(
      bodies.open(() => cut.push('next')),
      100,
    );
    expect(cut).toEqual(['large']);
  });
});

describe('annotations of a pod', () => {
  it('are refused past the length that the API server takes, whatever their types are', () => {
    const long = { a: 'x'.repeat(ANNOTATIONS_CHARS_MAX), b: {} as string };
    expect(annotationFault(long)).toMatch(/annotations have more than/);
    expect(annotationFault({ a: 'x'.repeat(ANNOTATIONS_CHARS_MAX - 1) })).toBeUndefined();
  });

  it('are refused if the ProxyConfig among them is too long to be parsed in a turn, and named shortly', () => {
    const fault = annotationFault({ 'proxy.istio.io/config': `#${'x'.repeat(PROXY_CONFIG_CHARS_MAX)}` }) ?? '';
    expect(fault).toMatch(/longer than/);
    expect(fault.length).toBeLessThan(500);
  });
});
