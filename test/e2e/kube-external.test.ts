// A control plane that leads a cluster from outside (EXTERNAL_ISTIOD), with two real API servers: it takes
// configuration from the one and runs the other's data plane. Workloads there find its roots, its webhook injects them,
// and their tokens are reviewed where they come from.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { EDS } from '../../src/xds/session/types.ts';
import { TestClient } from '../identity/client.ts';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import { namespace, SYSTEM, service, slice } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { readerToken, remoteSecret, type Side, side } from './kube/side.ts';
import { SidecarClient } from './kube/sidecar-client.ts';
import { serviceAccountToken } from './kube/tokens.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
const LOCK = 'istio-namespace-controller-election';
const REVISION = 'default';
const CONTROL_PLANE = 'topology.istio.io/controlPlaneClusters';
/** What Istio's chart gives the reader of a remote cluster beside reading (istiodRemote). */
const WRITES: readonly JsonObject[] = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update', 'patch'] },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations'],
    verbs: ['patch', 'update'],
  },
];

describe.runIf(binaries !== undefined)('a control plane outside of the cluster that it leads', () => {
  let folder: string;
  let config: Side;
  let data: Side;
  let plane: Plane;
  let proxy: SidecarClient | undefined;

  const ofData = (path: string): Promise<JsonObject | undefined> => data.admin.get(path).catch(() => undefined);
  const rootsIn = async (place: string): Promise<string | undefined> => {
    const map = await ofData(`/api/v1/namespaces/${place}/configmaps/istio-ca-root-cert`);
    return (map?.data as Record<string, string> | undefined)?.['root-cert.pem'];
  };
  const root = async (): Promise<string> => {
    const { data: found } = await config.admin.get(`/api/v1/namespaces/${SYSTEM}/secrets/istio-ca-secret`);
    return Buffer.from((found as Record<string, string>)['ca-cert.pem'] ?? '', 'base64').toString('utf8');
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-external-'));
    [config, data] = [await side(binaries!, 'config'), await side(binaries!, 'data', WRITES)];
    const system = namespace(SYSTEM) as { readonly metadata: JsonObject };
    await data.admin.put({ ...system, metadata: { ...system.metadata, annotations: { [CONTROL_PLANE]: 'config' } } });
    await data.admin.putAll([service('shop', 'web'), slice('shop', 'web', '172.16.2.1')]);
    await data.admin.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web', namespace: 'shop' } });
    await config.admin.put(await remoteSecret(data, await readerToken(data)));
    const args = ['--kubeconfig', await config.cluster.kubeconfig('admin'), '--clusterID', 'config'];
    plane = await Plane.serveSecurely([...args, '--journal', join(folder, 'journal.db')], {
      EXTERNAL_ISTIOD: 'true',
      ISTIOD_CUSTOM_HOST: 'localhost',
      POD_NAME: 'outside',
      POD_NAMESPACE: SYSTEM,
      REVISION,
    });
    await plane.synced();
    await data.admin.put(injector(plane.https));
  }, 600_000);

  afterAll(async () => {
    proxy?.close();
    if (process.env.PERIPLUS_SHOW_LOG !== undefined) process.stderr.write(plane?.log ?? '');
    await plane?.end('SIGKILL');
    for (const one of [config, data]) {
      one?.admin.close();
      await one?.cluster.stop();
    }
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('puts its roots into every namespace there, under a lock that a control plane inside may take', async () => {
    await until('roots in the other cluster', async () => (await rootsIn('shop')) !== undefined);
    expect((await rootsIn('shop'))?.trim()).toBe((await root()).trim());
    await data.admin.put(namespace('late'));
    await until('roots in a new namespace', async () => (await rootsIn('late')) !== undefined);
    const lock = await ofData(`/api/v1/namespaces/${SYSTEM}/configmaps/${LOCK}`);
    expect(JSON.stringify(lock?.metadata)).toContain('\\"holderKey\\":\\"^default\\"');
  }, 120_000);

  it('injects the Pods there, as those of their cluster and network', async () => {
    const pod: JsonObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
      spec: { serviceAccountName: 'web', containers: [{ name: 'app', image: 'web:1' }] },
    };
    await until('an injected Pod', () =>
      data.admin.put(pod).then(
        () => true,
        () => false,
      ),
    );
    const text = JSON.stringify((await ofData('/api/v1/namespaces/shop/pods/web'))?.spec);
    expect(text).toContain('{"name":"ISTIO_META_CLUSTER_ID","value":"data"}');
    expect(text).toContain('{"name":"ISTIO_META_NETWORK","value":"net-2"}');
  }, 120_000);

  it('signs for a token of the cluster that it names, and for none of another', async () => {
    const token = await serviceAccountToken(data.admin, 'shop', 'web', { audiences: ['istio-ca'] });
    const sign = async (headers: Record<string, string>): Promise<readonly string[] | string> => {
      const client = new TestClient({ port: plane.secure, roots: await root(), token, headers });
      try {
        return await client.sign((await signingRequest()).pem);
      } finally {
        client.close();
      }
    };
    const chain = await sign({ clusterid: 'data' });
    expect(typeof chain === 'string' ? chain : chain.at(-1)?.trim()).toBe((await root()).trim());
    expect(await sign({ clusterid: 'config' })).toBe('16 request authenticate failure');
    expect(await sign({})).toBe('16 request authenticate failure');
  }, 120_000);

  it('gives proxies there the endpoints there', async () => {
    const served = new SidecarClient({
      port: plane.grpc,
      namespace: 'shop',
      name: 'web',
      routes: ['80'],
      cluster: 'data',
    });
    proxy = served;
    await until('the endpoint', () => served.has(EDS, '172.16.2.1'));
  }, 120_000);
});

function injector(port: number): JsonObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'istio-sidecar-injector', labels: { 'istio.io/rev': REVISION } },
    webhooks: [
      {
        name: 'namespace.sidecar-injector.istio.io',
        clientConfig: { url: `https://localhost:${port}/inject/cluster/data/net/net-2` },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 20,
        failurePolicy: 'Fail',
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }],
        namespaceSelector: {
          matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['shop'] }],
        },
      },
    ],
  };
}
