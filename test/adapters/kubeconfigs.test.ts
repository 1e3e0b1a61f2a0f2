// Kubeconfig files of remote clusters as Secrets.

import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Adapter } from '../../src/adapters/adapter.ts';
import { kubeconfigFiles } from '../../src/adapters/kubeconfigs/kubeconfig-files.ts';
import { clusterSources, remoteClusters } from '../../src/core/clusters/remote-clusters.ts';
import { emptyState } from '../../src/core/state.ts';
import { foldFacts } from '../../src/offline/generate.ts';
import { FoldingSink } from '../../src/testing/adapter-rig.ts';
import { kubeconfigText, TOKEN } from '../unit/core/clusters/secrets.ts';

const SECOND = 1_000;
let folder: string;
let adapter: Adapter;
let sink: FoldingSink;
let logged: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'periplus-kubeconfigs-'));
  logged = [];
  const env = { PILOT_MULTICLUSTER_KUBECONFIG_PATH: folder };
  const { state } = foldFacts([{ source: 'runtime', kind: 'Engine', settings: { env } }], emptyState);
  sink = new FoldingSink('kubeconfigs/Kubernetes', { state });
  const chance = {
    now: () => Date.now(),
    random: () => 0.5,
    after: (ms: number, run: () => void) => {
      const timer = setTimeout(run, ms / 100);
      return { cancel: () => clearTimeout(timer) };
    },
  };
  const log = (_: string, message: string): void => void logged.push(message);
  adapter = kubeconfigFiles({ folder, cluster: 'Kubernetes', systemNamespace: 'istio-system', chance, log });
});

afterEach(async () => {
  await adapter.stop();
  await rm(folder, { recursive: true, force: true });
});

const wanted = (): readonly string[] =>
  remoteClusters(clusterSources(sink.state)).clusters.map(
    ({ id, kubeconfig }) => `${id} ${kubeconfig?.server ?? 'refused'}`,
  );

async function until(clusters: readonly string[]): Promise<void> {
  const end = Date.now() + 10 * SECOND;
  while (wanted().join() !== clusters.join() && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 20));
  expect(wanted()).toEqual(clusters);
}

describe('a folder of kubeconfigs', () => {
  it('has a cluster in each YAML file, also below, and by links, and none elsewhere', async () => {
    await mkdir(join(folder, 'more'));
    await mkdir(join(folder, '..data'));
    await writeFile(join(folder, 'one.yaml'), kubeconfigText('east'));
    await writeFile(join(folder, 'more', 'two.yml'), kubeconfigText('west'));
    await writeFile(join(folder, '..data', 'three.yaml'), kubeconfigText('north'));
    await symlink('..data/three.yaml', join(folder, 'three.yaml'));
    await writeFile(join(folder, 'notes.txt'), kubeconfigText('south'));
    await adapter.start(sink);
    expect(wanted()).toEqual(['east https://east:6443', 'north https://north:6443', 'west https://west:6443']);
    expect(adapter.status()).toEqual({ synced: true, waiting: [], troubles: [], unreadable: [] });
  });

  it('is followed: files that come, change and go', async () => {
    await writeFile(join(folder, 'one.yaml'), kubeconfigText('east'));
    await adapter.start(sink);
    await writeFile(join(folder, 'two.yaml'), kubeconfigText('west'));
    await until(['east https://east:6443', 'west https://west:6443']);
    await writeFile(join(folder, 'one.yaml'), kubeconfigText('east2'));
    await until(['east2 https://east2:6443', 'west https://west:6443']);
    await rm(join(folder, 'two.yaml'));
    await until(['east2 https://east2:6443']);
  });

  it('keeps the others beside a file that is no kubeconfig, whose cluster is refused', async () => {
    await writeFile(join(folder, 'a.yaml'), 'nonsense: [');
    await writeFile(join(folder, 'b.yaml'), kubeconfigText('east'));
    await adapter.start(sink);
    expect(wanted()).toEqual(['a-yaml refused', 'east https://east:6443']);
  });

  it('changes nothing while it cannot be read', async () => {
    await writeFile(join(folder, 'one.yaml'), kubeconfigText('east'));
    await adapter.start(sink);
    await rename(folder, `${folder}-away`);
    const end = Date.now() + 10 * SECOND;
    while (adapter.status().troubles.length === 0 && Date.now() < end)
      await new Promise(resolve => setTimeout(resolve, 20));
    expect(adapter.status().unreadable).toHaveLength(1);
    expect(wanted()).toEqual(['east https://east:6443']);
    await rename(`${folder}-away`, folder);
    expect(logged.join()).not.toContain(TOKEN);
  });
});
