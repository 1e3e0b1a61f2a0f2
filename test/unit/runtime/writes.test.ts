// What of a process may write to an API server: without the option nothing at all, so that get, list and watch are all
// that is sent.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ClusterConfigStore } from '../../../src/adapters/kube/write/cluster-config-store.ts';
import { defaultSettings } from '../../../src/core/mesh/settings.ts';
import { type AdapterOptions, openAdapters } from '../../../src/runtime/adapters.ts';
import { systemClock } from '../../../src/runtime/clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'periplus-writes-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function opened(writes: AdapterOptions['writes']): Promise<readonly [boolean, number]> {
  const kubeconfig = join(folder, 'config');
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  const stores: ClusterConfigStore[] = [];
  const onCluster = (store: ClusterConfigStore): void => void stores.push(store);
  const options = { settings: defaultSettings, kube: { kubeconfig, qps: 10, burst: 10 }, writes, onCluster };
  const adapters = await openAdapters(options, systemClock, () => undefined, 'test');
  await Promise.all(adapters.map(adapter => adapter.stop()));
  return [adapters.some(({ source }) => source.startsWith('writer/')), stores.length];
}

describe('a process with an API server', () => {
  it('has neither a writer nor a writable store if it is read-only', async () => {
    expect(await opened(undefined)).toEqual([false, 0]);
  });

  it('has both if it may write', async () => {
    expect(await opened({ identity: 'pod-1', isElectionEnabled: true })).toEqual([true, 1]);
  });
});
