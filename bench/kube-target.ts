// The cluster that a bench writes to: one of its own, or one that a kubeconfig with one cluster and a token names.

import { readFileSync } from 'node:fs';
import { isLeft } from 'fp-ts/lib/Either.js';
import type { JsonObject } from '../src/core/base/json.ts';
import { readYaml } from '../src/core/base/yaml.ts';
import { kubeOrSkip } from '../test/e2e/kube/binaries.ts';
import { KubeClient } from '../test/e2e/kube/client.ts';
import { Cluster } from '../test/e2e/kube/cluster.ts';
import { installDefinitions } from '../test/e2e/kube/custom-resource-definitions.ts';

export interface Target {
  /** Path of the file. */
  readonly kubeconfig: string;
  readonly client: KubeClient;
  close(): Promise<void>;
}

export async function clusterFor(kubeconfig: string): Promise<Target> {
  if (kubeconfig !== 'new') return given(kubeconfig);
  const binaries = await kubeOrSkip();
  if (binaries === undefined) throw new Error('--kubeconfig new needs etcd and a kube-apiserver');
  const cluster = await Cluster.start(binaries);
  const client = cluster.client();
  const close = async (): Promise<void> => {
    client.close();
    await cluster.stop();
  };
  try {
    await installDefinitions(client);
    return { kubeconfig: await cluster.kubeconfig('bench'), client, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function given(file: string): Target {
  const read = readYaml(readFileSync(file, 'utf8'));
  if (isLeft(read)) throw new Error(`${file}: ${read.left}`);
  const { clusters, users } = read.right as Readonly<Record<'clusters' | 'users', readonly JsonObject[]>>;
  const cluster = clusters[0]?.cluster as Readonly<Record<string, string>> | undefined;
  const token = (users[0]?.user as JsonObject | undefined)?.token;
  if (cluster?.server === undefined || typeof token !== 'string') {
    throw new Error(`${file}: expected one cluster with its server, and one user with a token`);
  }
  const client = new KubeClient({
    server: cluster.server,
    token,
    ca: Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64').toString('utf8'),
    serverName: cluster['tls-server-name'] ?? new URL(cluster.server).hostname,
  });
  return { kubeconfig: file, client, close: async () => client.close() };
}
