// From istiod to Periplus and back on a real kube-apiserver. The istiod is what others see of it: its Deployment and
// its locks, in its formats and renewed, then released as it does when it is stopped.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../src/core/base/json.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import type { KubeClient } from './kube/client.ts';
import { Cluster } from './kube/cluster.ts';
import { installDefinitions } from './kube/custom-resource-definitions.ts';
import { namespace, route, SYSTEM, service, slice } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { SidecarClient } from './kube/sidecar-client.ts';
import { serviceAccountToken } from './kube/tokens.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
const ISTIOD = 'istiod-7d4f9-abcde';
const ROOTS = '/api/v1/namespaces/shop/configmaps/istio-ca-root-cert';
const ROUTE = '/apis/networking.istio.io/v1/namespaces/shop/virtualservices/reviews';
const LOST = '/apis/networking.istio.io/v1/namespaces/shop/virtualservices/lost';
const LOCKS = ['istio-analyze-leader', 'istio-namespace-controller-election', 'istio-leader', 'istio-ip-autoallocate'];
const LEASES = ['istio-status-leader', 'istio-gateway-status-leader-periplus', 'istio-gateway-deployment-periplus'];
const RENEW_MS = 3_000;

function lock(name: string, holderIdentity: string): JsonObject {
  const now = `${new Date().toISOString().slice(0, -5)}Z`;
  const record = {
    holderIdentity,
    holderKey: 'default',
    leaseDurationSeconds: holderIdentity === '' ? 1 : 30,
    acquireTime: now,
    renewTime: now,
    leaderTransitions: 0,
  };
  const annotations = { 'control-plane.alpha.kubernetes.io/leader': JSON.stringify(record) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: SYSTEM, name, annotations } };
}

function lease(name: string, holderIdentity: string): JsonObject {
  const now = new Date().toISOString().replace('Z', '000Z');
  const leaseDurationSeconds = holderIdentity === '' ? 1 : 30;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: SYSTEM, name, annotations: { 'leader.istio.io/holder-key': 'default' } },
    spec: { holderIdentity, leaseDurationSeconds, acquireTime: now, renewTime: now, leaseTransitions: 0 },
  };
}

/** The locks of an istiod, renewed until it is stopped. */
class FakeIstiod {
  readonly #admin: KubeClient;
  renewals = 0;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();

  constructor(admin: KubeClient) {
    this.#admin = admin;
  }

  async start(): Promise<void> {
    await this.#write(ISTIOD);
    this.#timer = setInterval(() => {
      this.#renewing = this.#renewing.then(() => this.#write(ISTIOD));
    }, RENEW_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    await this.#write('');
  }

  async #write(holder: string): Promise<void> {
    await this.#admin.putAll([...LOCKS.map(name => lock(name, holder)), ...LEASES.map(name => lease(name, holder))]);
    this.renewals++;
  }
}

/** A route to a host that may not be there. */
function lost(host: string): JsonObject {
  const spec = { hosts: ['lost'], http: [{ route: [{ destination: { host } }] }] };
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    metadata: { namespace: 'shop', name: 'lost' },
    spec,
  };
}

function deploymentOfIstiod(env: Readonly<Record<string, string>>): JsonObject {
  const entries = Object.entries(env).map(([name, value]) => ({ name, value }));
  const labels = { app: 'istiod', 'istio.io/rev': 'default' };
  const containers = [
    { name: 'discovery', image: 'pilot:1', args: ['discovery', '--domain=cluster.local'], env: entries },
  ];
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: SYSTEM, name: 'istiod', labels }, spec };
}

describe.runIf(binaries !== undefined)('moving from istiod to Periplus and back', () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  let kubeconfig: string;
  let istiod: FakeIstiod;
  let plane: Plane;
  let proxy: SidecarClient;

  const exists = (path: string): Promise<boolean> =>
    admin.get(path).then(
      () => true,
      () => false,
    );
  const statusOf = async (path = ROUTE): Promise<JsonObject> => ((await admin.get(path)).status ?? {}) as JsonObject;
  const managers = async (path = ROUTE): Promise<readonly string[]> => {
    const { metadata } = await admin.get(path);
    const { managedFields } = metadata as { readonly managedFields: readonly { readonly manager: string }[] };
    return managedFields.map(({ manager }) => manager);
  };

  beforeAll(async () => {
    cluster = await Cluster.start(binaries!);
    folder = await mkdtemp(join(tmpdir(), 'periplus-moving-'));
    admin = cluster.client();
    await installDefinitions(admin);
    await admin.putAll([namespace(SYSTEM), namespace('shop', { 'istio.io/rev': 'default' })]);
    await admin.putAll([service('shop', 'reviews'), slice('shop', 'reviews', '10.1.1.7')]);
    await admin.put(route('shop', 'reviews', 'before'));
    await admin.put(lost('nowhere'));
    await admin.put(deploymentOfIstiod({ PILOT_ENABLE_AGENTGATEWAY: 'true', PILOT_TRACE_SAMPLING: '1' }));
    for (const file of ['rbac.yaml', 'rbac-write.yaml']) {
      const text = await readFile(join(import.meta.dirname, '../../deploy', file), 'utf8');
      for (const document of parseAllDocuments(text)) await admin.put(document.toJS() as JsonObject);
    }
    kubeconfig = await cluster.kubeconfig('periplus', await serviceAccountToken(admin, SYSTEM, 'periplus'));
    istiod = new FakeIstiod(admin);
    await istiod.start();
  }, 600_000);

  afterAll(async () => {
    proxy?.close();
    await istiod?.stop().catch(() => undefined);
    await plane?.end('SIGKILL');
    admin?.close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('says before what the istiod does that Periplus does not', async () => {
    const { code, said } = await Plane.run('analyze', '--migration', '--kubeconfig', kubeconfig);
    expect(said).toMatch(/Error \[PER0017\] \(Deployment istio-system\/istiod.*PILOT_ENABLE_AGENTGATEWAY=true/);
    expect(said).not.toContain('PILOT_TRACE_SAMPLING');
    expect(code).toBe(1);
  }, 120_000);

  it('writes nothing beside an istiod that holds the locks, and serves all the same', async () => {
    const args = ['--kubeconfig', kubeconfig, '--journal', join(folder, 'journal.db')];
    const env = { POD_NAME: 'periplus-1', POD_NAMESPACE: SYSTEM, REVISION: 'periplus', PILOT_ENABLE_STATUS: 'true' };
    const analyses = { PILOT_ENABLE_ANALYSIS: 'true', PILOT_ANALYSIS_INTERVAL: '1s' };
    plane = await Plane.serveSecurely(args, { ...env, ...analyses, ISTIOD_CUSTOM_HOST: 'localhost' });
    await plane.synced();
    proxy = new SidecarClient({ port: plane.grpc, namespace: 'shop', name: 'web', routes: ['80'] });
    await until('a count of proxies', async () =>
      (await plane.page('/debug/wishesz')).text.includes('reviews (status)'),
    );
    const seen = istiod.renewals;
    // Longer than a candidate waits before it tries again.
    await until('renewals', () => istiod.renewals > seen + 4);
    expect(await exists(ROOTS)).toBe(false);
    expect([await statusOf(), await statusOf(LOST)]).toEqual([{}, {}]);
    expect(plane.log).not.toContain('this process leads');
    expect(proxy.responses).toBeGreaterThan(0);
  }, 180_000);

  it('goes on where the istiod that was stopped left off', async () => {
    await istiod.stop();
    await until('roots', () => exists(ROOTS));
    await until('a status', async () => JSON.stringify(await statusOf()).includes('1/1 proxies up to date.'));
    expect(await statusOf()).toMatchObject({
      observedGeneration: 1,
      conditions: [{ type: 'Reconciled', status: 'True' }],
    });
    await admin.put(route('shop', 'reviews', 'after'));
    await until('its next generation', async () => {
      const { observedGeneration, conditions } = await statusOf();
      return observedGeneration === 2 && JSON.stringify(conditions).includes('"True"');
    });
  }, 180_000);

  it('writes what analysis finds into the status, and takes it away when it is mended', async () => {
    const codes = async (): Promise<string> => JSON.stringify((await statusOf(LOST)).validationMessages ?? []);
    await until('a message', async () => (await codes()).includes('IST0101'));
    await admin.put(lost('reviews'));
    await until('no message', async () => (await codes()) === '[]');
    await admin.put(lost('nowhere'));
    await until('a message again', async () => (await codes()).includes('IST0101'));
    expect(await managers(LOST)).toContain('periplus-analysis');
  }, 180_000);

  it('gives the locks back when it is stopped, and takes back what only it writes', async () => {
    expect(await plane.end()).toBe(0);
    for (const name of ['istio-status-leader', 'istio-gateway-status-leader-periplus']) {
      const { spec } = await admin.get(`/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases/${name}`);
      expect([name, (spec as JsonObject).holderIdentity ?? '']).toEqual([name, '']);
    }
    expect(await managers()).toContain('periplus-distribution');
    const dry = await Plane.run('withdraw', '--kubeconfig', kubeconfig, '--dry-run', '-o', 'json');
    expect(JSON.parse(dry.said)).toEqual(
      ['lost', 'reviews'].map(name => ({ object: `VirtualService shop/${name}`, result: 'found' })),
    );
    const { code, said } = await Plane.run('withdraw', '--kubeconfig', kubeconfig);
    expect([code, said]).toEqual([0, expect.stringContaining('withdrawn')]);
    expect([await statusOf(), await statusOf(LOST)]).toEqual([{}, {}]);
    for (const path of [ROUTE, LOST]) expect((await managers(path)).join()).not.toContain('periplus');
    expect((await Plane.run('withdraw', '--kubeconfig', kubeconfig)).said).toContain('nothing of Periplus is left');
  }, 180_000);
});
