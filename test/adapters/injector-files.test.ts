// The injector's configuration from mounted files.

import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Adapter } from '../../src/adapters/adapter.ts';
import { injectorFiles } from '../../src/adapters/file/injector-files.ts';
import { injectorSetup } from '../../src/admission/inject/setup.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { foldFacts } from '../../src/offline/generate.ts';
import { FoldingSink } from '../../src/testing/adapter-rig.ts';

const WAIT_MS = 20_000;
let folder: string;
let adapter: Adapter;
let sink: FoldingSink;
let logged: string[];

const configOf = (name: string): string => JSON.stringify({ policy: 'enabled', templates: { [name]: 'spec: {}' } });

function opened(): Adapter {
  const chance = {
    now: () => Date.now(),
    random: () => 0.5,
    after: (ms: number, run: () => void) => {
      const timer = setTimeout(run, ms / 100);
      return { cancel: () => clearTimeout(timer) };
    },
  };
  const log = (_: string, message: string): void => void logged.push(message);
  const name = 'istio-sidecar-injector';
  return injectorFiles({ folder, cluster: 'Kubernetes', namespace: 'istio-system', name, chance, log });
}

/** The names of the templates in force; the message where there are none. */
function templates(): readonly string[] | string {
  const setup = new Tracker().get(sink.state, undefined, injectorSetup, '');
  return setup._tag === 'Left' ? setup.left : Object.keys(setup.right.templates);
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`not within ${WAIT_MS} ms: ${what}`);
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}

/** As kubelet swaps the folder of a mounted ConfigMap. */
async function mount(version: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(folder, `..${version}`));
  for (const [key, text] of Object.entries(files)) await writeFile(join(folder, `..${version}`, key), text);
  await symlink(`..${version}`, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  for (const key of Object.keys(files)) await symlink(`..data/${key}`, join(folder, key)).catch(() => undefined);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'periplus-inject-'));
  logged = [];
  const inCluster = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'istio-sidecar-injector', namespace: 'istio-system' },
    data: { config: configOf('cluster'), values: '{}' },
  };
  const { state } = foldFacts([{ source: 'kube/Kubernetes', kind: 'Add', object: inCluster }]);
  sink = new FoldingSink('injector/Kubernetes', { state });
  adapter = opened();
});

afterEach(async () => {
  await adapter.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the files of the injector', () => {
  it('take precedence over the ConfigMap of the cluster, and are followed', async () => {
    await mount('1', { config: configOf('mounted'), values: '{}' });
    await adapter.start(sink);
    expect(templates()).toEqual(['mounted']);
    await mount('2', { config: configOf('swapped'), values: '{}' });
    await until('the new templates', () => String(templates()) === 'swapped');
  });

  it('stay as they were known while one of them cannot be read', async () => {
    await mount('1', { config: configOf('mounted'), values: '{}' });
    await adapter.start(sink);
    await unlink(join(folder, 'values'));
    await until('the trouble', () => adapter.status().unreadable.length > 0);
    expect(templates()).toEqual(['mounted']);
    expect(logged).toEqual([expect.stringMatching(/ENOENT.*values.*; what is known stays$/)]);
    await symlink('..data/values', join(folder, 'values'));
    await until('no trouble', () => adapter.status().unreadable.length === 0);
  });

  it('hold back readiness until both can be read', async () => {
    await writeFile(join(folder, 'config'), configOf('mounted'));
    const started = adapter.start(sink);
    await until('the trouble', () => adapter.status().unreadable.length > 0);
    expect(adapter.status()).toMatchObject({ synced: false, waiting: ['ConfigMap'] });
    await writeFile(join(folder, 'values'), '{}');
    await started;
    expect([adapter.status().synced, templates()]).toEqual([true, ['mounted']]);
  });

  it('of an earlier run go where there are none at the start', async () => {
    await mount('1', { config: configOf('mounted'), values: '{}' });
    await adapter.start(sink);
    await adapter.stop();
    await unlink(join(folder, 'config'));
    adapter = opened();
    await adapter.start(sink);
    expect(templates()).toEqual(['cluster']);
  });
});
