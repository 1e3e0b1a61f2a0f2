// Identity and the writer against a real kube-apiserver, with the rights of deploy/ and nothing more: one root for
// replicas that start at once, TokenReview, ConfigMaps in every namespace under istiod's locks, a leader that is
// killed, and --read-only.

import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { connectKube } from '../../src/adapters/kube/kube-adapter.ts';
import { ClusterStore } from '../../src/adapters/kube/write/cluster-store.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { TestClient, type TestStream } from '../identity/client.ts';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import type { KubeClient } from './kube/client.ts';
import { Cluster } from './kube/cluster.ts';
import { installDefinitions } from './kube/custom-resource-definitions.ts';
import { FaultProxy } from './kube/fault-proxy.ts';
import { namespace, route, SYSTEM } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { expiredToken, serviceAccountToken, tokenOfAnotherCluster } from './kube/tokens.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
const LOCK = 'istio-namespace-controller-election';
const ROOTS = 'istio-ca-root-cert';
const UNAUTHENTICATED = '16 request authenticate failure';
/** A lock that is not renewed may be taken after 30 s. */
const TAKEOVER_MS_MAX = 90_000;
/** Longer than a candidate waits between two looks at a lock. */
const SEVERAL_ROUNDS_MS = 18_000;

describe.runIf(binaries !== undefined)('identity in a cluster', () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  let kubeconfig: string;
  const planes: Plane[] = [];

  const serve = async (name: string, config = kubeconfig, ...more: readonly string[]): Promise<Plane> => {
    const args = ['--kubeconfig', config, '--journal', join(folder, `${name}.db`), ...more];
    const plane = await Plane.serveSecurely(args, { POD_NAME: name, POD_NAMESPACE: SYSTEM });
    planes.push(plane);
    return plane;
  };
  const read = async (path: string): Promise<JsonObject | undefined> => admin.get(path).catch(() => undefined);
  const secret = async (): Promise<Readonly<Record<string, string>>> =>
    ((await admin.get(`/api/v1/namespaces/${SYSTEM}/secrets/istio-ca-secret`)).data ?? {}) as Record<string, string>;
  const rootInSecret = async (): Promise<string> =>
    Buffer.from((await secret())['ca-cert.pem'] ?? '', 'base64').toString('utf8');
  const published = async (name: string): Promise<string | undefined> => {
    const map = await read(`/api/v1/namespaces/${name}/configmaps/${ROOTS}`);
    return (map?.data as Record<string, string> | undefined)?.['root-cert.pem'];
  };
  const leader = async (): Promise<string> => {
    const lock = await read(`/api/v1/namespaces/${SYSTEM}/configmaps/${LOCK}`);
    const annotations = (lock?.metadata as { readonly annotations?: Record<string, string> } | undefined)?.annotations;
    const record = JSON.parse(annotations?.['control-plane.alpha.kubernetes.io/leader'] ?? '{}') as JsonObject;
    return String(record.holderIdentity ?? '');
  };
  const signedFor = async (plane: Plane, token: string): Promise<readonly string[] | string> => {
    const client = new TestClient({ port: plane.secure, roots: await rootInSecret(), token });
    try {
      return await client.sign((await signingRequest()).pem);
    } finally {
      client.close();
    }
  };

  beforeAll(async () => {
    cluster = await Cluster.start(binaries!);
    folder = await mkdtemp(join(tmpdir(), 'periplus-kube-identity-'));
    admin = cluster.client();
    await installDefinitions(admin);
    await admin.putAll([namespace(SYSTEM), namespace('shop'), namespace('bank')]);
    for (const file of ['rbac.yaml', 'rbac-write.yaml']) {
      const text = await readFile(join(import.meta.dirname, '../../deploy', file), 'utf8');
      for (const document of parseAllDocuments(text)) await admin.put(document.toJS() as JsonObject);
    }
    await admin.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web', namespace: 'shop' } });
    const token = await serviceAccountToken(admin, SYSTEM, 'periplus');
    kubeconfig = await cluster.kubeconfig('periplus', token);
    await Promise.all([serve('one'), serve('two')]);
    for (const plane of planes) await plane.synced();
  }, 600_000);

  afterAll(async () => {
    if (process.env.PERIPLUS_SHOW_LOG !== undefined) for (const { log } of planes) process.stderr.write(`${log}\n`);
    for (const plane of planes) await plane.end('SIGKILL');
    admin?.close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('gives two replicas that start at once the same root', async () => {
    const root = await rootInSecret();
    expect(root).toContain('BEGIN CERTIFICATE');
    const token = await serviceAccountToken(admin, 'shop', 'web', { audiences: ['istio-ca'] });
    for (const plane of planes) {
      const chain = await signedFor(plane, token);
      expect(typeof chain === 'string' ? chain : chain.at(-1)?.trim()).toBe(root.trim());
    }
  });

  it('asks the API server about tokens, and refuses those of others', async () => {
    const [plane] = planes as [Plane];
    expect(await signedFor(plane, await serviceAccountToken(admin, 'shop', 'web'))).toBe(UNAUTHENTICATED);
    expect(await signedFor(plane, await expiredToken(cluster, 'shop', 'web'))).toBe(UNAUTHENTICATED);
    expect(await signedFor(plane, tokenOfAnotherCluster('shop', 'web'))).toBe(UNAUTHENTICATED);
    expect(await signedFor(plane, 'no token at all')).toBe(UNAUTHENTICATED);
  });

  it('refuses the token of a pod that is deleted', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-1', namespace: 'shop' },
      spec: { serviceAccountName: 'web', containers: [{ name: 'app', image: 'app' }] },
    };
    const { uid } = (await admin.put(pod)).metadata as { readonly uid: string };
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'web-1', uid };
    const token = await serviceAccountToken(admin, 'shop', 'web', { audiences: ['istio-ca'], boundObjectRef });
    expect(await signedFor(planes[0]!, token)).toHaveLength(2);
    await admin.remove(pod);
    await until('the token is refused', async () => (await signedFor(planes[0]!, token)) === UNAUTHENTICATED);
  });

  it('serves a TLS key to a gateway only if its account may list the Secrets there', async () => {
    const account = (name: string): JsonObject => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: 'shop' },
    });
    const group = 'rbac.authorization.k8s.io';
    const named = { name: 'reads-secrets', namespace: 'shop' };
    await admin.putAll([
      account('edge'),
      account('curious'),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/tls',
        metadata: { name: 'cert', namespace: 'shop' },
        stringData: { 'tls.crt': 'a certificate', 'tls.key': 'a key' },
      },
      {
        apiVersion: `${group}/v1`,
        kind: 'Role',
        metadata: named,
        rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'watch', 'list'] }],
      },
      {
        apiVersion: `${group}/v1`,
        kind: 'RoleBinding',
        metadata: named,
        roleRef: { apiGroup: group, kind: 'Role', name: named.name },
        subjects: [{ kind: 'ServiceAccount', name: 'edge', namespace: 'shop' }],
      },
    ]);
    const [plane] = planes as [Plane];
    const open = async (name: string): Promise<{ readonly client: TestClient; readonly stream: TestStream }> => {
      const token = await serviceAccountToken(admin, 'shop', name, { audiences: ['istio-ca'] });
      const client = new TestClient({ port: plane.secure, roots: await rootInSecret(), token });
      const stream = client.stream();
      const metadata = { NAMESPACE: { stringValue: 'shop' }, SERVICE_ACCOUNT: { stringValue: name } };
      const node = { id: `router~10.0.0.1~${name}.shop~shop.svc.cluster.local`, metadata: { fields: metadata } };
      stream.ask(SECRETS, ['kubernetes://cert'], { node });
      return { client, stream };
    };
    const opened = [await open('curious'), await open('edge')];
    const [curious, edge] = opened.map(({ stream }) => stream) as [TestStream, TestStream];
    const sent = ({ responses }: TestStream): number => responses.flatMap(({ resources }) => resources).length;
    await until('the key is sent', () => sent(edge) > 0);
    const answers = async (): Promise<string> => (await plane.page('/debug/configz?kind=SecretAccess')).text;
    await until('the other account is denied', async () => (await answers()).includes('curious'));
    expect(sent(curious)).toBe(0);
    expect(curious.ended ?? edge.ended).toBeUndefined();
    for (const { client } of opened) client.close();
  });

  it('fills every namespace with the roots, and restores what was edited or deleted', async () => {
    const root = await rootInSecret();
    const isFilled = (name: string) => async (): Promise<boolean> => (await published(name))?.trim() === root.trim();
    for (const name of ['shop', 'bank', SYSTEM]) await until(`roots in ${name}`, isFilled(name), TAKEOVER_MS_MAX);
    await admin.put(namespace('new'));
    await until('roots in a new namespace', isFilled('new'));
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: ROOTS, namespace: 'shop' } };
    await admin.patch(map, { data: { 'root-cert.pem': 'edited', extra: 'kept' } });
    await until('the edit is undone', isFilled('shop'));
    const again = await admin.get(`/api/v1/namespaces/shop/configmaps/${ROOTS}`);
    expect(again).toMatchObject({ data: { extra: 'kept' }, metadata: { labels: { 'istio.io/config': 'true' } } });
    await admin.remove(map);
    await until('the deletion is undone', isFilled('shop'));
    expect(await published('kube-public')).toBeUndefined();
    expect(['one', 'two']).toContain(await leader());
  });

  it('has another leader soon after the leader is killed, and starts again with the same root', async () => {
    const root = await rootInSecret();
    const first = await leader();
    const killed = planes[first === 'one' ? 0 : 1]!;
    await killed.end('SIGKILL');
    await admin.remove({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: ROOTS, namespace: 'bank' } });
    const other = first === 'one' ? 'two' : 'one';
    await until('another leader', async () => (await leader()) === other, TAKEOVER_MS_MAX);
    await until('what was deleted meanwhile', async () => (await published('bank'))?.trim() === root.trim());
    const started = await serve(first);
    await started.synced();
    expect(await rootInSecret()).toBe(root);
    const token = await serviceAccountToken(admin, 'shop', 'web', { audiences: ['istio-ca'] });
    expect(await signedFor(started, token)).toHaveLength(2);
  });

  it('writes nothing beside an istiod that holds the lock', async () => {
    for (const plane of planes) await plane.end();
    const time = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
    const holder = { holderIdentity: 'istiod-0', holderKey: 'default', leaseDurationSeconds: 30, leaderTransitions: 1 };
    const renewed = (): JsonObject => ({
      metadata: {
        annotations: {
          'control-plane.alpha.kubernetes.io/leader': JSON.stringify({
            ...holder,
            acquireTime: time(),
            renewTime: time(),
          }),
        },
      },
    });
    const lock = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: LOCK, namespace: SYSTEM } };
    await admin.patch(lock, renewed());
    const renewing = setInterval(() => void admin.patch(lock, renewed()), 5_000);
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: ROOTS, namespace: 'shop' } };
    try {
      await admin.remove(map);
      const plane = await serve('three');
      await plane.synced();
      await new Promise(resolve => setTimeout(resolve, SEVERAL_ROUNDS_MS));
      expect(await leader()).toBe('istiod-0');
      expect(await published('shop')).toBeUndefined();
      await plane.end();
    } finally {
      clearInterval(renewing);
    }
    await admin.remove(lock);
  });

  it('sends get, list and watch only with --read-only, and judges tokens by published keys', async () => {
    for (const plane of planes) await plane.end();
    await admin.put(namespace('untouched'));
    const proxy = await FaultProxy.start(cluster);
    const token = await serviceAccountToken(admin, SYSTEM, 'periplus');
    const config = await cluster.kubeconfig('read-only', token, proxy.url);
    const plane = await serve('four', config, '--read-only');
    try {
      await plane.synced();
      const good = await serviceAccountToken(admin, 'shop', 'web', { audiences: ['istio-ca'] });
      await until('the keys are known', async () => typeof (await signedFor(plane, good)) !== 'string');
      expect(await signedFor(plane, await expiredToken(cluster, 'shop', 'web'))).toBe(UNAUTHENTICATED);
      expect(await signedFor(plane, tokenOfAnotherCluster('shop', 'web'))).toBe(UNAUTHENTICATED);
      const containers = [{ name: 'app', image: 'app' }];
      const metadata = { name: 'web-0', namespace: 'shop' };
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { serviceAccountName: 'web', containers } };
      const { uid } = (await admin.put(pod)).metadata as { readonly uid: string };
      const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid };
      const bound = await serviceAccountToken(admin, 'shop', 'web', { audiences: ['istio-ca'], boundObjectRef });
      await until('the pod is known', async () => typeof (await signedFor(plane, bound)) !== 'string');
      await admin.remove(pod);
      await until('the pod is gone', async () => (await signedFor(plane, bound)) === UNAUTHENTICATED);
      await admin.put(pod);
      await until('the new pod is known', async () => {
        expect(await signedFor(plane, bound)).toBe(UNAUTHENTICATED);
        return plane.log.includes('bound to an earlier pod shop/web-0');
      });
      expect([...proxy.methods]).toEqual(['GET']);
      expect(await published('untouched')).toBeUndefined();
    } finally {
      await plane.end();
      await proxy.stop();
    }
  });

  it('refuses to start with --read-only where there is no root', async () => {
    const secretName = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'istio-ca-secret', namespace: SYSTEM } };
    const kept = await admin.get(`/api/v1/namespaces/${SYSTEM}/secrets/istio-ca-secret`);
    await admin.remove(secretName);
    const plane = await serve('five', kubeconfig, '--read-only');
    await plane.ended();
    expect(plane.log).toContain('there is no root');
    await admin.put({ ...secretName, type: kept.type!, data: kept.data! });
  });

  it('keeps keys and tokens out of the journals', async () => {
    const key = Buffer.from((await secret())['ca-key.pem'] ?? '', 'base64').toString('utf8');
    const [, line = ''] = key.split('\n');
    expect(line.length).toBeGreaterThan(40);
    for (const name of (await readdir(folder)).filter(one => one.includes('.db'))) {
      const bytes = await readFile(join(folder, name));
      for (const needle of [line, Buffer.from(key).toString('base64').slice(60, 120)]) {
        expect(bytes.includes(needle), `${name} holds a key`).toBe(false);
      }
    }
  });

  it('writes objects for embedding programs, and tells a conflict from a mistake', async () => {
    const options = { kubeconfig: await cluster.kubeconfig('admin'), cluster: 'Kubernetes', userAgent: 'test' };
    const chance = { now: Date.now, after: systemClock.after, random: Math.random };
    const connected = await connectKube({ ...options, chance, log: () => undefined, limit: { qps: 50, burst: 50 } });
    const { adapter, credentials } = connected;
    try {
      await adapter.start({
        submit: async () => undefined,
        relist: async () => undefined,
        relistKinds: async () => undefined,
      } as never);
      await until('the kinds are found', () => adapter.resource('VirtualService') !== undefined);
      const store = new ClusterStore({
        cluster: 'Kubernetes',
        api: connected.connection(),
        resource: kind => adapter.resource(kind),
      });
      const name = { kind: 'VirtualService', namespace: 'shop', name: `vs-${randomUUID().slice(0, 8)}` } as const;
      const object = { ...route('shop', 'web', 'one'), metadata: { name: name.name, namespace: 'shop' } };
      expect(await store.create(object)).toMatchObject({ _tag: 'Right' });
      expect(await store.create(object)).toMatchObject({ _tag: 'Left', left: { kind: 'AlreadyExists' } });
      const first = await store.get(name);
      if (first._tag === 'Left') throw new Error(first.left.kind);
      expect(await store.patch(name, { metadata: { labels: { a: 'b' } } })).toMatchObject({ _tag: 'Right' });
      expect(await store.update(first.right)).toMatchObject({ _tag: 'Left', left: { kind: 'Conflict' } });
      expect(await store.updateStatus({ ...object, status: { observedGeneration: 7 } })).toMatchObject({
        _tag: 'Right',
      });
      expect(await store.get(name)).toMatchObject({
        right: { metadata: { labels: { a: 'b' } }, status: { observedGeneration: 7 } },
      });
      const stale = (first.right.metadata as { readonly resourceVersion: string }).resourceVersion;
      expect(await store.delete(name, stale)).toMatchObject({ _tag: 'Left', left: { kind: 'Conflict' } });
      expect(await store.delete(name)).toMatchObject({ _tag: 'Right' });
      expect(await store.delete(name)).toMatchObject({ _tag: 'Left', left: { kind: 'NotFound' } });
    } finally {
      await adapter.stop();
      credentials.close();
    }
  });
});
