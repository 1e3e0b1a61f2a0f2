// `periplus authz` asked of a running control plane over HTTP: as files and journals answer, now and at a position.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultSettings } from '../../src/core/mesh/settings.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type ControlPlane, startControlPlane } from '../../src/runtime/control-plane.ts';
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
  let folder: string;
  let plane: ControlPlane;
  const write = (methods: string): void => writeFileSync(join(folder, 'mesh', 'mesh.yaml'), mesh(methods));
  const address = (): readonly string[] => ['--address', `127.0.0.1:${plane.ports.monitoring}`];
  const live = (...args: readonly string[]) => periplus('authz', 'can', ...args, ...address());
  const filed = (...args: readonly string[]) => periplus('authz', 'can', ...args, '-f', join(folder, 'mesh'));
  const post = ['shop/web', 'reviews.shop', '--method', 'POST'];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'periplus-authz-'));
    mkdirSync(join(folder, 'mesh'));
    write('GET');
    const loopback = { host: '127.0.0.1', port: 0 };
    plane = await startControlPlane(
      {
        configDir: join(folder, 'mesh'),
        grpcAddr: loopback,
        httpAddr: loopback,
        monitoringAddr: loopback,
        settings: defaultSettings,
        journal: join(folder, 'journal.db'),
        journalDurability: 'off',
        journalStrict: false,
        shutdownMs: 500,
      },
      systemClock,
      () => undefined,
    );
    const end = Date.now() + CHANGE_MS_MAX;
    while ((await live('shop/web', 'reviews.shop')).code !== 0 && Date.now() < end) await soon();
  });
  afterAll(async () => {
    await plane.stop();
    rmSync(folder, { recursive: true, force: true });
  });
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
    const { out } = await periplus('authz', 'check', 'reviews.shop', ...address());
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
    const before = String(plane.world.state.seq);
    expect((await live(...post)).code).toBe(1);
    write('GET, POST');
    const end = Date.now() + CHANGE_MS_MAX;
    while ((await live(...post)).code !== 0 && Date.now() < end) await soon();
    expect((await live(...post)).code).toBe(0);
    const then = await live(...post, '--at', before);
    expect([then.code, then.out]).toEqual([1, expect.stringContaining('no allow policy matches')]);
  });
});
