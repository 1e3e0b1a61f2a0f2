// `periplus authz` asked of a running control plane over HTTP: as files and journals answer, now and at a position.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LivePlane } from './live-plane.ts';
import { periplus } from './running.ts';

const CHANGE_MS_MAX = 60_000;

const mesh = (methods: string): string => `
apiVersion: v1
kind: Service
metadata: {name: reviews, namespace: shop}
spec: {ports: [{name: http, port: 80, targetPort: 9080}], selector: {app: reviews}}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: readers, namespace: shop}
spec:
  selector: {matchLabels: {app: reviews}}
  rules:
    - from: [{source: {serviceAccounts: [shop/web]}}]
      to: [{operation: {methods: [${methods}]}}]
    - from: [{source: {requestPrincipals: [issuer/alice]}}]
---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: tokens, namespace: shop}
spec:
  jwtRules: [{issuer: issuer, jwks: '{"keys":[{"kty":"RSA","e":"AQAB","n":"xAE7eB6qugXyCAG3yhh7pkDkT65pHymX"}]}'}]
`;

describe('authz of a running control plane', () => {
  let server: LivePlane;
  const live = (...args: readonly string[]) => server.ask('authz', 'can', ...args);
  const filed = (...args: readonly string[]) => periplus('authz', 'can', ...args, '-f', server.mesh);
  const post = ['shop/web', 'reviews.shop', '--method', 'POST'];

  beforeAll(async () => {
    server = await LivePlane.start(mesh('GET'));
    const end = Date.now() + CHANGE_MS_MAX;
    while ((await live('shop/web', 'reviews.shop')).code !== 0 && Date.now() < end) await soon();
  });
  afterAll(() => server.stop());
  const soon = () => new Promise<void>(resolve => setTimeout(resolve, 50));

  test.each([
    [post],
    [['none', 'reviews.shop', '--jwt', '{"iss":"issuer","sub":"alice"}', '--header', 'a:b', '--header', 'c:d']],
    [['none', 'reviews.shop', '--tcp', '--port', '5000', '--source-ip', '10.0.0.1', '--authorizer', 'denies']],
  ])('answers %j as the files do', async args => {
    const [own, files] = [await live(...args, '-o', 'json'), await filed(...args, '-o', 'json')];
    expect([own.code, own.err, own.out]).toEqual([files.code, '', files.out]);
    expect((await live(...args)).out).toBe((await filed(...args)).out);
  });

  test('lists the policies of a workload', async () => {
    const { out } = await server.ask('authz', 'check', 'reviews.shop');
    expect(out).toMatch(/ALLOW +readers\.shop/);
  });

  test.each([
    [['shop', 'reviews.shop'], 2, 'expected namespace/account'],
    [['none', 'reviews.shop', '--port', 'x'], 2, 'expected 1 to 65535'],
    [['none', 'nothing.shop'], 1, 'nothing.shop'],
    [['none', 'reviews.shop', '--at', '4711000'], 1, '4711000'],
  ])('%j ends with %i and says why', async (args, code, why) => {
    const ran = await live(...args);
    expect(ran.code).toBe(code);
    expect(ran.err).toContain(why);
  });

  test('answers a question about the past after a policy has changed', async () => {
    const before = String(server.plane.world.state.seq);
    expect((await live(...post)).code).toBe(1);
    server.write('mesh.yaml', mesh('GET, POST'));
    const end = Date.now() + CHANGE_MS_MAX;
    while ((await live(...post)).code !== 0 && Date.now() < end) await soon();
    expect((await live(...post)).code).toBe(0);
    const then = await live(...post, '--at', before);
    expect([then.code, then.out]).toEqual([1, expect.stringContaining('no allow policy matches')]);
  });
});
