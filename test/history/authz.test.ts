// Who may call whom, as users ask it: `authz check`, `authz can`, and what a change of policies opens or closes.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { periplus } from './running.ts';

const REVIEWS = `
apiVersion: v1
kind: Service
metadata: {name: reviews, namespace: shop}
spec:
  ports: [{name: http, port: 80, targetPort: 9080}]
  selector: {app: reviews}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: reviews, namespace: shop, labels: {kubernetes.io/service-name: reviews}}
addressType: IPv4
ports: [{name: http, port: 9080, protocol: TCP}]
endpoints: [{addresses: [10.1.0.7], conditions: {ready: true}}]
`;
const NO_INTERNAL = `
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: no-internal, namespace: istio-system}
spec:
  action: DENY
  rules: [{to: [{operation: {paths: [/internal/*]}}]}]
`;
const readers = (methods: string): string => `
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: readers, namespace: shop}
spec:
  selector: {matchLabels: {app: reviews}}
  rules:
    - from: [{source: {serviceAccounts: [shop/web]}}]
      to: [{operation: {methods: [${methods}], paths: [/reviews/*]}}]
    - from: [{source: {principals: [cluster.local/ns/shop/sa/admin]}}]
    - from: [{source: {requestPrincipals: [issuer/alice]}}]
---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: tokens, namespace: shop}
spec:
  jwtRules: [{issuer: issuer, jwks: '{"keys":[{"kty":"RSA","e":"AQAB","n":"xAE7eB6qugXyCAG3yhh7pkDkT65pHymX"}]}'}]
`;
const PROXIES = `
- name: reviews
  node:
    id: sidecar~10.1.0.7~reviews.shop~shop.svc.cluster.local
    metadata: {NAMESPACE: shop, LABELS: {app: reviews}, INSTANCE_IPS: 10.1.0.7}
`;

let folder: string;
const path = (name: string): string => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'periplus-authz-'));
  writeFileSync(path('old.yaml'), `${REVIEWS}${NO_INTERNAL}${readers('GET')}`);
  writeFileSync(path('new.yaml'), `${REVIEWS}${NO_INTERNAL}${readers('GET, POST')}`);
  writeFileSync(path('proxies.yaml'), PROXIES);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const can = (...args: readonly string[]) => periplus('authz', 'can', ...args, '-f', path('old.yaml'));

describe('authz can', () => {
  test.each([
    ['shop/web', ['--path', '/reviews/1'], 0, 'ns[shop]-policy[readers]-rule[0]'],
    ['shop/web', ['--path', '/reviews/1', '--method', 'POST'], 1, 'no allow policy matches'],
    // On a connection without HTTP, DENY by path refuses everything.
    ['shop/web', ['--tcp', '--port', '5000'], 1, 'ns[istio-system]-policy[no-internal]-rule[0]'],
    ['none', ['--path', '/reviews/1'], 1, 'no allow policy matches'],
    ['none', ['--jwt', 'issuer/alice'], 0, 'ns[shop]-policy[readers]-rule[2]'],
    ['none', ['--jwt', 'stranger/alice'], 1, 'the token is refused'],
    ['spiffe://cluster.local/ns/shop/sa/admin', ['--method', 'PUT'], 0, 'ns[shop]-policy[readers]-rule[1]'],
    ['shop/admin', ['--path', '/internal/x?y'], 1, 'ns[istio-system]-policy[no-internal]-rule[0]'],
  ])('%s %j: exit code %i, by %s', async (caller, options, code, by) => {
    const ran = await can(caller, 'reviews.shop', ...options);
    expect([ran.code, ran.err]).toEqual([code, '']);
    expect(ran.out).toContain(by);
  });

  test('names the deciding verdict in JSON', async () => {
    const { out } = await can('shop/admin', 'reviews.shop', '--path', '/internal/x', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({
      allowed: 'no',
      by: { filter: 'envoy.filters.http.rbac', kind: 'deny', policy: 'ns[istio-system]-policy[no-internal]-rule[0]' },
    });
  });

  test.each([
    [['shop', 'reviews.shop'], 2],
    [['none', 'reviews.shop', '--port', 'x'], 2],
    [['none', 'reviews.shop', '--jwt', '{'], 2],
    [['none', 'nothing.shop'], 1],
  ])('%j ends with %i and one line that says why', async (args, code) => {
    const ran = await can(...args);
    expect([ran.code, ran.err.split('\n').length]).toEqual([code, 2]);
  });
});

describe('without --port', () => {
  const withDatabase = REVIEWS.replace(
    'targetPort: 9080}]',
    'targetPort: 9080}, {name: tcp-db, port: 5432, targetPort: 5432}]',
  );
  test.each([
    [[], 9080],
    [['--tcp'], 5432],
  ])('%j asks port %i', async (options, port) => {
    writeFileSync(path('database.yaml'), withDatabase);
    const { out } = await periplus('authz', 'can', 'none', 'reviews.shop', ...options, '-f', path('database.yaml'));
    expect(out).toContain(`port ${port}\n`);
  });
});

test('the ConfigMap of the mesh among the files counts, as it does when they are served', async () => {
  const mesh = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'istio', namespace: 'istio-system' },
    data: { mesh: 'trustDomain: old.example' },
  };
  writeFileSync(path('mesh.yaml'), `${REVIEWS}${NO_INTERNAL}${readers('GET')}\n---\n${JSON.stringify(mesh)}`);
  const args = ['reviews.shop', '-f', path('mesh.yaml'), '-o', 'json'];
  const { out } = await periplus('authz', 'can', 'shop/web', ...args);
  expect(JSON.parse(out).question.identity).toBe('spiffe://old.example/ns/shop/sa/web');
});

test('a pod of the files can be asked about by its name, and without --proxies', async () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'reviews-1', namespace: 'shop', labels: { app: 'reviews' } },
    spec: { serviceAccountName: 'reviews', containers: [{ name: 'app', ports: [{ containerPort: 9080 }] }] },
    status: { phase: 'Running', podIP: '10.1.0.7', podIPs: [{ ip: '10.1.0.7' }] },
  };
  writeFileSync(path('pod.yaml'), `${REVIEWS}${NO_INTERNAL}${readers('GET')}\n---\n${JSON.stringify(pod)}`);
  const ran = await periplus('authz', 'can', 'none', 'reviews-1.shop', '--path', '/internal/x', '-f', path('pod.yaml'));
  expect([ran.code, ran.err]).toEqual([1, '']);
  expect(ran.out).toContain('ns[istio-system]-policy[no-internal]-rule[0]');
});

test('authz check lists the policies of every chain, without rules that a protocol cannot have', async () => {
  const { out } = await periplus('authz', 'check', 'reviews.shop', '-f', path('old.yaml'), '-o', 'json');
  const rows = JSON.parse(out) as readonly { protocol: string; policy: string; rules: readonly number[] }[];
  const rulesOf = (protocol: string, policy: string) =>
    rows.filter(row => row.protocol === protocol && row.policy === policy).map(({ rules }) => rules);
  expect(rulesOf('http', 'readers.shop')).toEqual([[0, 1, 2]]);
  expect(rulesOf('tcp', 'readers.shop')).toEqual([[1]]);
  expect(rulesOf('http', 'issuer')).toEqual([[]]);
  const table = await periplus('authz', 'check', 'reviews.shop', '-f', path('old.yaml'));
  expect(table.out).toMatch(/LISTENER +PORTS +PROTOCOL +ACTION +POLICY/);
});

describe('diff says what a change of policies opens and closes', () => {
  const diff = async (from: string, to: string, ...more: readonly string[]) => {
    for (const [name, source] of [
      ['a', from],
      ['b', to],
    ] as const) {
      rmSync(path(name), { recursive: true, force: true });
      mkdirSync(path(name));
      writeFileSync(join(path(name), 'mesh.yaml'), readFileSync(path(source)));
    }
    return periplus('diff', path('a'), path('b'), '--proxies', path('proxies.yaml'), ...more);
  };

  test('opens: with an exit code for pipelines', async () => {
    const { code, out } = await diff('old.yaml', 'new.yaml', '--fail-on', 'opens');
    expect(out).toContain('shop/web may now reach POST /reviews/');
    expect(out).not.toContain('may no longer');
    expect(code).toBe(4);
  });

  test('closes: which is not what the pipeline stops at', async () => {
    const { code, out } = await diff('new.yaml', 'old.yaml', '--fail-on', 'opens');
    expect(out).toContain('shop/web may no longer reach POST /reviews/');
    expect(code).toBe(1);
  });

  const policy = (action: string, rule: string): string => `${REVIEWS}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: ranges, namespace: shop}
spec:
  action: ${action}
  rules: [${rule}]
`;
  const ranges = (blocks: string): string => `{from: [{source: {${blocks}}}]}`;

  test.each([
    ['ipBlocks', 'notIpBlocks', 'from 10.1.0.0'],
    ['remoteIpBlocks', 'notRemoteIpBlocks', 'for the client 10.1.0.0'],
  ])('closes: for the addresses of %s', async (field, negated, where) => {
    writeFileSync(path('wide.yaml'), policy('ALLOW', ranges(`${field}: [10.0.0.0/8]`)));
    writeFileSync(path('narrow.yaml'), policy('ALLOW', ranges(`${field}: [10.0.0.0/8], ${negated}: [10.1.0.0/16]`)));
    const { code, out } = await diff('wide.yaml', 'narrow.yaml', '--fail-on', 'closes');
    expect(out).toContain(where);
    expect(out).toContain('10.1.255.255');
    expect(out).not.toContain('may now reach');
    expect(out).not.toContain('10.0.0.0');
    expect(code).toBe(4);
  });

  test('opens: connections without HTTP, to which paths are unknown', async () => {
    writeFileSync(path('paths.yaml'), policy('DENY', '{to: [{operation: {paths: [/x]}}]}'));
    writeFileSync(path('ports.yaml'), policy('DENY', '{to: [{operation: {paths: [/x], ports: ["5432"]}}]}'));
    const { out } = await diff('paths.yaml', 'ports.yaml', '--fail-on', 'opens');
    expect(out).toMatch(/a caller without mTLS may now reach connections without HTTP on other ports/);
    expect(out).not.toMatch(/connections without HTTP on port 5432/);
  });

  test('nothing, where equal policies replace each other', async () => {
    expect((await diff('old.yaml', 'old.yaml', '--fail-on', 'access')).code).toBe(0);
  });
});
