// Kubeconfig files of remote clusters as Secrets.

import { mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
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
let open: (allowEmpty: boolean) => Adapter;

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
  const options = { folder, cluster: 'Kubernetes', systemNamespace: 'istio-system', chance, log };
  open = allowEmpty => kubeconfigFiles({ ...options, allowEmpty });
  adapter = open(false);
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

async function waitFor(holds: () => boolean): Promise<void> {
  const end = Date.now() + 10 * SECOND;
  while (!holds() && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 20));
  expect(holds()).toBe(true);
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

  it('keeps the cluster of a file that is cut short, also over a restart, until it names one again', async () => {
    await writeFile(join(folder, 'one.yaml'), kubeconfigText('east'));
    await adapter.start(sink);
    await truncate(join(folder, 'one.yaml'), 0);
    // A file beside it shows that the folder was looked at since.
    await writeFile(join(folder, 'two.yaml'), kubeconfigText('west'));
    await until(['east https://east:6443', 'west https://west:6443']);
    expect(logged.join('\n')).toContain(`${join(folder, 'one.yaml')} names no cluster`);
    await adapter.stop();
    await writeFile(join(folder, 'one.yaml'), 'nonsense: [');
    adapter = open(false);
    await adapter.start(sink);
    expect(wanted()).toEqual(['east https://east:6443', 'west https://west:6443']);
    await writeFile(join(folder, 'one.yaml'), kubeconfigText('north'));
    await until(['north https://north:6443', 'west https://west:6443']);
  });

  it('removes nothing if it is empty in place of the one that was read, or at a restart', async () => {
    await writeFile(join(folder, 'one.yaml'), kubeconfigText('east'));
    await adapter.start(sink);
    await rename(folder, `${folder}-away`);
    await mkdir(folder);
    const isEmpty = (): boolean => adapter.status().troubles.some(why => why.includes('is empty, as a mount point'));
    await waitFor(isEmpty);
    expect(wanted()).toEqual(['east https://east:6443']);
    await adapter.stop();
    adapter = open(false);
    const starting = adapter.start(sink);
    await waitFor(isEmpty);
    expect(wanted()).toEqual(['east https://east:6443']);
    await rm(folder, { recursive: true });
    await rename(`${folder}-away`, folder);
    await starting;
    expect(adapter.status().troubles).toEqual([]);
    await rm(join(folder, 'one.yaml'));
    await until([]);
  });

  it('removes every cluster if it is empty at a restart with --allow-empty-source', async () => {
    await writeFile(join(folder, 'one.yaml'), kubeconfigText('east'));
    await adapter.start(sink);
    await adapter.stop();
    await rm(join(folder, 'one.yaml'));
    adapter = open(true);
    await adapter.start(sink);
    expect(wanted()).toEqual([]);
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
