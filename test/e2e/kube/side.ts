// One cluster of a mesh of many: its API server, the account that control planes elsewhere read it by, and the Secret
// that names it to them.

import { readFile } from 'node:fs/promises';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Binaries } from './binaries.ts';
import type { KubeClient } from './client.ts';
import { Cluster } from './cluster.ts';
import { namespace, SYSTEM } from './mesh.ts';
import { serviceAccountToken } from './tokens.ts';

const ACCOUNT = { namespace: SYSTEM, name: 'istio-reader' };

export interface Side {
  readonly id: string;
  readonly cluster: Cluster;
  readonly admin: KubeClient;
}

/** `more`: rules of the account beside those that reading needs. */
export async function side(binaries: Binaries, id: string, more: readonly JsonObject[] = []): Promise<Side> {
  const cluster = await Cluster.start(binaries);
  const admin = cluster.client();
  await admin.putAll([namespace(SYSTEM), namespace('shop')]);
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: ACCOUNT };
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'istio-reader' },
    rules: [
      {
        apiGroups: [
          '',
          'discovery.k8s.io',
          'networking.k8s.io',
          'apiextensions.k8s.io',
          'admissionregistration.k8s.io',
          'networking.istio.io',
          'gateway.networking.k8s.io',
        ],
        resources: ['*'],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      ...more,
    ],
  };
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'istio-reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'istio-reader' },
    subjects: [{ kind: 'ServiceAccount', ...ACCOUNT }],
  };
  for (const object of [account, role, binding]) await admin.put(object as JsonObject);
  return { id, cluster, admin };
}

export function readerToken({ admin }: Side): Promise<string> {
  return serviceAccountToken(admin, SYSTEM, ACCOUNT.name);
}

/** As `istioctl create-remote-secret` writes it. */
export async function remoteSecret(of: Side, token: string): Promise<JsonObject> {
  const kubeconfig = await readFile(await of.cluster.kubeconfig(of.id, token), 'utf8');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `istio-remote-secret-${of.id}`,
      namespace: SYSTEM,
      labels: { 'istio/multiCluster': 'true' },
      annotations: { 'networking.istio.io/cluster': of.id },
    },
    stringData: { [of.id]: kubeconfig },
  };
}
