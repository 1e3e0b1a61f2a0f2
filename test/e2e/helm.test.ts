// The chart in deploy/helm by Helm itself, on a real API server: its objects are accepted, its account has the rights
// that a running control plane needs, templates of injection that were there before stay, and values without effect are
// named.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { helmOrSkip } from './helm/binary.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import type { KubeClient } from './kube/client.ts';
import { Cluster } from './kube/cluster.ts';
import { installDefinitions } from './kube/custom-resource-definitions.ts';
import { namespace, SYSTEM } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { serviceAccountToken } from './kube/tokens.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
const helm = binaries === undefined ? undefined : await helmOrSkip();
const CHART = join(import.meta.dirname, '../../deploy/helm/periplus');
const INJECTOR = `/api/v1/namespaces/${SYSTEM}/configmaps/istio-sidecar-injector`;
const VALIDATOR = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/istio-validator-istio-system';
const run = promisify(execFile);

interface Rule {
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

describe.runIf(helm !== undefined)('the Helm chart', () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  let config: string;

  const ours = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await run(helm!, [...args, '--kubeconfig', config, '--namespace', SYSTEM], {
      env: { ...process.env, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder },
      maxBuffer: 16 << 20,
    });
    return stdout + stderr;
  };
  const set = (...values: readonly string[]): readonly string[] => values.flatMap(value => ['--set', value]);
  const list = async (path: string): Promise<readonly string[]> => {
    const { items } = (await admin.get(path)) as unknown as {
      readonly items: readonly { metadata: { name: string } }[];
    };
    return items.map(({ metadata }) => metadata.name);
  };
  const spec = async (path: string): Promise<JsonObject> => (await admin.get(path)).spec as JsonObject;

  beforeAll(async () => {
    cluster = await Cluster.start(binaries!);
    folder = await mkdtemp(join(tmpdir(), 'periplus-helm-'));
    admin = cluster.client();
    await installDefinitions(admin);
    await admin.putAll([namespace(SYSTEM), namespace('shop')]);
    config = await cluster.kubeconfig('admin');
  }, 600_000);

  afterAll(async () => {
    admin?.close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('installs beside templates of injection that are not its own, and names values without effect', async () => {
    const theirs = { config: 'policy: disabled', values: '{}' };
    await admin.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'istio-sidecar-injector', namespace: SYSTEM },
      data: theirs,
    });
    const said = await ours('install', 'mesh', CHART, ...set('traceSampling=3', 'bogus.depth=1', 'env.PILOT_X=on'));
    expect(said).toContain('traceSampling: set meshConfig.defaultConfig.tracing.sampling');
    expect(said).toContain('bogus.depth: unknown');
    expect(said).not.toContain('PILOT_X');
    expect(said).toContain('Each replica has a journal of its own');
    expect((await admin.get(INJECTOR)).data).toEqual(theirs);
  });

  it('gives the account what a control plane needs, and nothing is refused to it', async () => {
    const token = await serviceAccountToken(admin, SYSTEM, 'istiod');
    const args = ['--kubeconfig', await cluster.kubeconfig('istiod', token), '--journal', join(folder, 'journal.db')];
    const plane = await Plane.serveSecurely(args, { POD_NAME: 'istiod-1', POD_NAMESPACE: SYSTEM, REVISION: 'default' });
    try {
      await plane.synced();
      const roots = '/api/v1/namespaces/shop/configmaps/istio-ca-root-cert';
      await until('the roots are published', async () => (await admin.get(roots).catch(() => undefined)) !== undefined);
      expect(plane.log).not.toMatch(/forbidden/i);
    } finally {
      await plane.end();
    }
  });

  it('keeps the policy of validation that the control plane has set', async () => {
    const { webhooks } = (await admin.get(VALIDATOR)) as unknown as { readonly webhooks: readonly JsonObject[] };
    expect(webhooks.map(({ failurePolicy }) => failurePolicy)).toEqual(['Ignore']);
    await admin.put({
      ...(await admin.get(VALIDATOR)),
      webhooks: webhooks.map(one => ({ ...one, failurePolicy: 'Fail' })),
    });
    await ours('upgrade', 'mesh', CHART);
    expect((await admin.get(VALIDATOR)).webhooks).toMatchObject([{ failurePolicy: 'Fail' }]);
  });

  it('has one replica with a kept journal, and scales with a shared one', async () => {
    const deployment = `/apis/apps/v1/namespaces/${SYSTEM}/deployments/istiod`;
    const kept = 'periplus.journal.persistence.enabled=true';
    expect(await ours('upgrade', 'mesh', CHART, ...set(kept, 'replicaCount=3'))).toContain('No autoscaler was made');
    expect(await spec(deployment)).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(await list(`/api/v1/namespaces/${SYSTEM}/persistentvolumeclaims`)).toEqual(['istiod-journal']);
    const scalers = `/apis/autoscaling/v2/namespaces/${SYSTEM}/horizontalpodautoscalers`;
    expect(await list(scalers)).toEqual([]);
    await ours('upgrade', 'mesh', CHART, ...set('periplus.journal.url=nats://nats:4222/mesh', 'autoscaleMin=2'));
    expect(await list(scalers)).toEqual(['istiod']);
    expect(await list(`/apis/policy/v1/namespaces/${SYSTEM}/poddisruptionbudgets`)).toEqual(['istiod']);
  });

  it('installs a second revision with tags beside the first', async () => {
    await ours('install', 'canary', CHART, ...set('revision=canary', 'revisionTags={prod}', 'defaultRevision='));
    expect(await list('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations')).toEqual([
      'istio-revision-tag-prod',
      'istio-sidecar-injector',
      'istio-sidecar-injector-canary',
    ]);
    const services = await list(`/api/v1/namespaces/${SYSTEM}/services`);
    expect(services).toEqual(['istiod', 'istiod-canary', 'istiod-revision-tag-prod']);
    await ours('uninstall', 'canary');
  });

  it('hands requests on to the signers that are named, and to no others', async () => {
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/istiod-clusterrole-istio-system';
    const registers = async (...values: readonly string[]): Promise<readonly string[]> => {
      await ours('upgrade', 'mesh', CHART, ...set(...values));
      const { rules } = (await admin.get(role)) as unknown as { readonly rules: readonly Rule[] };
      const about = rules.filter(({ verbs }) => verbs.includes('approve'));
      const makes = rules.filter(({ verbs }) => verbs.includes('create')).flatMap(({ resources }) => resources);
      expect(makes.includes('certificatesigningrequests')).toBe(values.length > 0);
      return about.flatMap(({ resourceNames = ['*'] }) => resourceNames);
    };
    const authority = 'env.EXTERNAL_CA=ISTIOD_RA_KUBERNETES_API';
    expect(await registers()).toEqual([]);
    expect(await registers(authority)).toEqual([]);
    expect(await registers(authority, 'global.certSigners={signers.example.com/*}')).toEqual(['signers.example.com/*']);
  });

  it('may write nothing when it is read-only, and leaves nothing behind but the journal', async () => {
    await ours('upgrade', 'mesh', CHART, ...set('periplus.readOnly=true'));
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/istiod-clusterrole-istio-system';
    const { rules } = (await admin.get(role)) as unknown as { readonly rules: readonly { verbs: readonly string[] }[] };
    expect([...new Set(rules.flatMap(({ verbs }) => verbs))].sort()).toEqual(['create', 'get', 'list', 'watch']);
    await ours('uninstall', 'mesh');
    expect(await list(`/apis/apps/v1/namespaces/${SYSTEM}/deployments`)).toEqual([]);
    expect(await list('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations')).toEqual([]);
    expect(await list(`/api/v1/namespaces/${SYSTEM}/persistentvolumeclaims`)).toEqual(['istiod-journal']);
    expect((await admin.get(INJECTOR)).data).toMatchObject({ config: 'policy: disabled' });
  });
});
