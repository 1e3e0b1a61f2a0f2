// Webhooks and managed Gateways on a real kube-apiserver, with the rights of deploy/: the roots get into the webhook
// configurations, a Pod comes back injected, a bad object is refused at creation, a Gateway becomes a Deployment that
// is then left alone. The templates are those of this project; PERIPLUS_INJECTOR_CONFIGMAP names a file with the
// ConfigMap istio-sidecar-injector of an installation, to try its own ones by hand.

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
const REVISION = 'default';
const QUIET_MS = 8_000;

describe.runIf(binaries !== undefined)('webhooks in a cluster', () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  let plane: Plane;

  const read = async (path: string): Promise<JsonObject | undefined> => admin.get(path).catch(() => undefined);
  const webhooksOf = async (kind: string, name: string): Promise<readonly JsonObject[]> => {
    const found = await read(`/apis/admissionregistration.k8s.io/v1/${kind}/${name}`);
    return (found?.webhooks ?? []) as readonly JsonObject[];
  };

  beforeAll(async () => {
    cluster = await Cluster.start(binaries!);
    folder = await mkdtemp(join(tmpdir(), 'periplus-webhooks-'));
    admin = cluster.client();
    await installDefinitions(admin);
    await admin.putAll([namespace(SYSTEM), namespace('shop'), namespace('plain')]);
    const own = process.env.PERIPLUS_INJECTOR_CONFIGMAP;
    if (own !== undefined) await admin.put(JSON.parse(await readFile(own, 'utf8')) as JsonObject);
    for (const file of ['rbac.yaml', 'rbac-write.yaml']) {
      const text = await readFile(join(import.meta.dirname, '../../deploy', file), 'utf8');
      for (const document of parseAllDocuments(text)) await admin.put(document.toJS() as JsonObject);
    }
    const kubeconfig = await cluster.kubeconfig('periplus', await serviceAccountToken(admin, SYSTEM, 'periplus'));
    const args = ['--kubeconfig', kubeconfig, '--journal', join(folder, 'journal.db')];
    const env = { POD_NAME: 'one', POD_NAMESPACE: SYSTEM, REVISION, ISTIOD_CUSTOM_HOST: 'localhost' };
    plane = await Plane.serveSecurely(args, env);
    await plane.synced();
    for (const object of configurations(plane.https)) await admin.put(object);
  }, 600_000);

  afterAll(async () => {
    if (process.env.PERIPLUS_SHOW_LOG !== undefined) process.stderr.write(`${plane?.log}\n`);
    await plane?.end('SIGKILL');
    admin?.close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('tell the API server their roots, and change nothing else', async () => {
    await until('both bundles', async () => {
      const all = [
        ...(await webhooksOf('mutatingwebhookconfigurations', 'istio-sidecar-injector')),
        ...(await webhooksOf('validatingwebhookconfigurations', 'istio-validator-istio-system')),
      ];
      const bundles = all.map(({ clientConfig }) => (clientConfig as JsonObject).caBundle);
      return bundles.length === 2 && bundles.every(bundle => typeof bundle === 'string' && bundle.length > 100);
    });
    const [injector] = await webhooksOf('mutatingwebhookconfigurations', 'istio-sidecar-injector');
    expect(injector).toMatchObject({ failurePolicy: 'Fail', sideEffects: 'None' });
  }, 60_000);

  it('inject the Pods of a labelled namespace, and no others', async () => {
    const pod = (place: string): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: place, labels: { app: 'web' } },
      spec: {
        serviceAccountName: 'default',
        containers: [{ name: 'app', image: 'web:1', readinessProbe: { httpGet: { port: 8080 } } }],
      },
    });
    await until('an injected Pod', async () => {
      await admin.put(pod('shop'));
      return true;
    });
    const names = (list: unknown): readonly unknown[] =>
      ((list ?? []) as readonly JsonObject[]).map(({ name }) => name);
    const injected = ((await read('/api/v1/namespaces/shop/pods/web'))?.spec ?? {}) as JsonObject;
    expect([...names(injected.initContainers), ...names(injected.containers)].sort()).toEqual([
      'app',
      'istio-init',
      'istio-proxy',
    ]);
    expect(JSON.stringify(injected.containers)).toContain('/app-health/app/readyz');
    await admin.put(pod('plain'));
    const left = ((await read('/api/v1/namespaces/plain/pods/web'))?.spec ?? {}) as JsonObject;
    expect(names(left.containers)).toEqual(['app']);
  }, 60_000);

  it('refuse a VirtualService with a mistake, by the message of the rule', async () => {
    const virtualService = (weight: number): JsonObject => ({
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'web', namespace: 'shop' },
      spec: {
        hosts: ['web'],
        http: [
          {
            route: [
              { destination: { host: 'web' }, weight },
              { destination: { host: 'b' }, weight: -1 },
            ],
          },
        ],
      },
    });
    await until('a webhook that fails closed', async () => {
      const [validator] = await webhooksOf('validatingwebhookconfigurations', 'istio-validator-istio-system');
      return validator?.failurePolicy === 'Fail';
    });
    await expect(admin.put(virtualService(1))).rejects.toThrow(
      /denied the request: configuration is invalid: .*weight/,
    );
    const sound = {
      ...virtualService(1),
      spec: { hosts: ['web'], http: [{ route: [{ destination: { host: 'web' } }] }] },
    };
    await admin.put(sound);
  }, 60_000);

  it('deploy a managed Gateway once, and then leave it alone', async () => {
    await admin.put({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'edge', namespace: 'shop' },
      spec: { gatewayClassName: 'istio', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    });
    const paths = [
      '/apis/apps/v1/namespaces/shop/deployments',
      '/api/v1/namespaces/shop/services',
      '/api/v1/namespaces/shop/serviceaccounts',
    ];
    const objects = (): Promise<readonly (JsonObject | undefined)[]> =>
      Promise.all(paths.map(path => read(`${path}/edge-istio`)));
    await until('Deployment, Service and ServiceAccount', async () =>
      (await objects()).every(object => object !== undefined),
    );
    const versions = async (): Promise<readonly unknown[]> =>
      (await objects()).map(object => ((object?.metadata ?? {}) as JsonObject).resourceVersion);
    const before = await versions();
    await new Promise(resolve => setTimeout(resolve, QUIET_MS));
    expect(await versions()).toEqual(before);
    const [deployment] = await objects();
    const { labels, ownerReferences } = (deployment?.metadata ?? {}) as JsonObject;
    expect(labels).toMatchObject({ 'gateway.istio.io/managed': 'istio.io-gateway-controller' });
    expect(ownerReferences).toMatchObject([{ kind: 'Gateway', name: 'edge' }]);
  }, 90_000);

  it('inject by the templates of the cluster once its ConfigMap is there', async () => {
    const template = { spec: { containers: [{ name: 'istio-proxy', image: 'of-the-cluster:1' }] } };
    const config = { policy: 'enabled', templates: { sidecar: JSON.stringify(template) } };
    await admin.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'istio-sidecar-injector', namespace: SYSTEM },
      data: { config: JSON.stringify(config), values: '{"global":{}}' },
    });
    let pods = 0;
    await until('a Pod with the proxy of that template', async () => {
      const name = `own-${++pods}`;
      // The templates of before have a token, for which a Pod needs an account.
      const spec = { serviceAccountName: 'default', containers: [{ name: 'app', image: 'web:1' }] };
      await admin.put({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop' }, spec });
      const { containers } = ((await read(`/api/v1/namespaces/shop/pods/${name}`))?.spec ?? {}) as JsonObject;
      return JSON.stringify(containers).includes('of-the-cluster:1');
    });
  }, 60_000);
});

function configurations(port: number): readonly JsonObject[] {
  const webhook = (path: string): JsonObject => ({
    clientConfig: { url: `https://localhost:${port}${path}` },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 20,
  });
  const rule = (
    operations: readonly string[],
    apiGroups: readonly string[],
    apiVersions: readonly string[],
    resources: readonly string[],
  ) => [{ operations, apiGroups, apiVersions, resources, scope: '*' }];
  const head = (kind: string, name: string): JsonObject => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name, labels: { 'istio.io/rev': REVISION } },
  });
  const shop = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['shop'] }] };
  const mesh = ['networking.istio.io', 'security.istio.io', 'telemetry.istio.io', 'extensions.istio.io'];
  return [
    {
      ...head('MutatingWebhookConfiguration', 'istio-sidecar-injector'),
      webhooks: [
        {
          ...webhook('/inject'),
          name: 'namespace.sidecar-injector.istio.io',
          failurePolicy: 'Fail',
          rules: rule(['CREATE'], [''], ['v1'], ['pods']),
          namespaceSelector: shop,
        },
      ],
    },
    {
      ...head('ValidatingWebhookConfiguration', 'istio-validator-istio-system'),
      webhooks: [
        {
          ...webhook('/validate'),
          name: 'rev.validation.istio.io',
          failurePolicy: 'Ignore',
          rules: rule(['CREATE', 'UPDATE'], mesh, ['*'], ['*']),
        },
      ],
    },
  ];
}
