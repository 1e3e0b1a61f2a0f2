// Kubeconfigs of remote clusters from a folder (PILOT_MULTICLUSTER_KUBECONFIG_PATH): each file as a Secret, the form in
// which the core knows them, so that they are sealed in the journal and judged like any other.
// Source: Istio pkg/kube/multicluster/kubeconfig_files.go.

import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { clusterIdIn, KUBECONFIG_CHARS_MAX } from '../../core/clusters/kubeconfig.ts';
import { KUBECONFIG_FILES, MULTICLUSTER_LABEL } from '../../core/clusters/remote-clusters.ts';
import type { Fact } from '../../core/event.ts';
import type { AdapterLog } from '../adapter.ts';
import type { Chance } from '../kit/clock.ts';
import { PolledFiles } from '../kit/polled-files.ts';

export interface KubeconfigFilesOptions {
  readonly folder: string;
  readonly cluster: string;
  /** Namespace of the Secrets. */
  readonly systemNamespace: string;
  readonly chance: Chance;
  readonly log: AdapterLog;
}

export const FILES_MAX = 1_000;
export const DEPTH_MAX = 8;

export function kubeconfigFiles({
  folder,
  cluster,
  systemNamespace,
  chance,
  log,
}: KubeconfigFilesOptions): PolledFiles {
  const read = async (): Promise<readonly Fact[]> =>
    [...(await textsIn(folder))].map(([file, text]) => secretOf(file, text, systemNamespace));
  const source = `${KUBECONFIG_FILES}/${cluster}`;
  return new PolledFiles({
    source,
    kind: 'Secret',
    subject: 'kubeconfigs of remote clusters',
    folder,
    read,
    chance,
    log,
  });
}

function secretOf(file: string, text: string, namespace: string): Fact {
  const plain = file
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
  const metadata = {
    name: `${plain}-${hash(file).slice(0, 8)}`,
    namespace,
    labels: { [MULTICLUSTER_LABEL]: 'true' },
  };
  const data = { [clusterIdIn(text) ?? plain]: Buffer.from(text).toString('base64') };
  return { kind: 'Add', object: { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data } };
}

/** By path below the folder, sorted. Rejects if any of it cannot be read: half a list would remove clusters. */
async function textsIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const path of (await filesBelow(folder, 0)).sort()) {
    const name = relative(folder, path);
    if (found.size === FILES_MAX) throw new Error(`${folder} has more than ${FILES_MAX} files`);
    const { size } = await stat(path);
    if (size > KUBECONFIG_CHARS_MAX) throw new Error(`${name} is larger than ${KUBECONFIG_CHARS_MAX} bytes`);
    found.set(name, await readFile(path, 'utf8'));
  }
  return found;
}

async function filesBelow(folder: string, depth: number): Promise<string[]> {
  if (depth > DEPTH_MAX) throw new Error(`${folder} is nested more than ${DEPTH_MAX} deep`);
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    // What a mounted Secret keeps its versions in; the links beside lead there.
    if (name.startsWith('..')) continue;
    const path = join(folder, name);
    const entry = await stat(path);
    if (entry.isDirectory()) found.push(...(await filesBelow(path, depth + 1)));
    else if (entry.isFile() && /\.ya?ml$/.test(name)) found.push(path);
  }
  return found;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
