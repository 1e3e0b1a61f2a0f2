// Two revisions beside each other on one real kube-apiserver, as a canary upgrade has them: each injects the Pods of
// the namespaces that name it, and one of the two holds the lock of what both would write. Which objects each reads is
// in kube.test.ts.

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
import { namespace, SYSTEM } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { serviceAccountToken } from './kube/tokens.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
const REVISIONS = ['blue', 'green'] as const;
type Revision = (typeof REVISIONS)[number];

describe.runIf(binaries !== undefined)('two revisions in one cluster', () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  const planes = new Map<Revision, Plane>();

  const plane = (revision: Revision): Plane => planes.get(revision)!;
  beforeAll(async () => {
    cluster = await Cluster.start(binaries!);
    folder = await mkdtemp(join(tmpdir(), 'periplus-revisions-'));
    admin = cluster.client();
    await installDefinitions(admin);
    const own = REVISIONS.map(revision => namespace(`${revision}-apps`, { 'istio.io/rev': revision }));
    await admin.putAll([namespace(SYSTEM), ...own]);
    for (const file of ['rbac.yaml', 'rbac-write.yaml']) {
      const text = await readFile(join(import.meta.dirname, '../../deploy', file), 'utf8');
      for (const document of parseAllDocuments(text)) await admin.put(document.toJS() as JsonObject);
    }
    const kubeconfig = await cluster.kubeconfig('periplus', await serviceAccountToken(admin, SYSTEM, 'periplus'));
    for (const revision of REVISIONS) {
      const args = ['--kubeconfig', kubeconfig, '--journal', join(folder, `${revision}.db`)];
      const env = { POD_NAME: `istiod-${revision}`, POD_NAMESPACE: SYSTEM, REVISION: revision };
      const made = await Plane.serveSecurely(args, { ...env, ISTIOD_CUSTOM_HOST: 'localhost' });
      planes.set(revision, made);
      await made.synced();
      await admin.put(injectorOf(revision, made.https));
    }
  }, 600_000);

  afterAll(async () => {
    for (const one of planes.values()) await one.end('SIGKILL');
    admin?.close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it.each(REVISIONS)(
    'inject Pods by the namespace that names them: %s',
    async revision => {
      const pod: JsonObject = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'web', namespace: `${revision}-apps`, labels: { app: 'web' } },
        spec: { serviceAccountName: 'default', containers: [{ name: 'app', image: 'web:1' }] },
      };
      // Refused until the revision has put its roots into its own configuration.
      await until('an injected Pod', async () => (await admin.put(pod).catch(() => undefined)) !== undefined);
      const { metadata } = await admin.get(`/api/v1/namespaces/${revision}-apps/pods/web`);
      const { annotations } = metadata as { readonly annotations: Readonly<Record<string, string>> };
      expect(JSON.parse(annotations['sidecar.istio.io/status'] ?? '{}')).toMatchObject({ revision });
      const others = REVISIONS.filter(one => one !== revision);
      expect(plane(revision).log).toMatch(new RegExp(`injection of .*${revision}-apps.* operations`));
      for (const other of others) expect(plane(other).log).not.toMatch(new RegExp(`injection of .*${revision}-apps`));
    },
    120_000,
  );

  it('take over one namespace at a time by its label, and give it back', async () => {
    const revisionOf = async (path: string): Promise<unknown> => {
      const { metadata } = await admin.get(path);
      const { annotations } = metadata as { readonly annotations?: Readonly<Record<string, string>> };
      return (JSON.parse(annotations?.['sidecar.istio.io/status'] ?? '{}') as JsonObject).revision;
    };
    let pods = 0;
    const revisionOfNewPod = async (of: string): Promise<unknown> => {
      const name = `web-${++pods}`;
      await admin.put({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: of },
        spec: { serviceAccountName: 'default', containers: [{ name: 'app', image: 'web:1' }] },
      });
      return revisionOf(`/api/v1/namespaces/${of}/pods/${name}`);
    };
    await admin.putAll(['moves', 'stays'].map(name => namespace(name, { 'istio.io/rev': 'blue' })));
    for (const revision of ['blue', 'green', 'blue']) {
      await admin.put(namespace('moves', { 'istio.io/rev': revision }));
      // The API server hears of a label a moment later.
      await until(`a Pod of ${revision}`, async () => (await revisionOfNewPod('moves')) === revision);
      expect(await revisionOfNewPod('stays')).toBe('blue');
    }
  }, 120_000);

  it('write what both would write as one, by the lock of istiod', async () => {
    const lock = `/api/v1/namespaces/${SYSTEM}/configmaps/istio-namespace-controller-election`;
    await until('the roots are published', async () => {
      const roots = '/api/v1/namespaces/blue-apps/configmaps/istio-ca-root-cert';
      return (await admin.get(roots).catch(() => undefined)) !== undefined;
    });
    const { metadata } = await admin.get(lock);
    const { annotations } = metadata as { readonly annotations: Readonly<Record<string, string>> };
    const { holderIdentity } = JSON.parse(
      annotations['control-plane.alpha.kubernetes.io/leader'] ?? '{}',
    ) as JsonObject;
    const led = REVISIONS.filter(one =>
      plane(one).log.includes('istio-namespace-controller-election: this process leads'),
    );
    expect(led.map(one => `istiod-${one}`)).toEqual([holderIdentity]);
  }, 120_000);
});

function injectorOf(revision: Revision, port: number): JsonObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: `istio-sidecar-injector-${revision}`, labels: { 'istio.io/rev': revision } },
    webhooks: [
      {
        name: 'rev.namespace.sidecar-injector.istio.io',
        clientConfig: { url: `https://localhost:${port}/inject` },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 20,
        failurePolicy: 'Fail',
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }],
        namespaceSelector: { matchLabels: { 'istio.io/rev': revision } },
      },
    ],
  };
}
