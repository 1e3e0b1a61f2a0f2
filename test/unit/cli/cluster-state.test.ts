// A cluster that is listed once for a command: all of it, what may be read of it, or nothing, and which of these.

import { describe, expect, it } from 'vitest';
import type { Adapter, Sink, SourceStatus } from '../../../src/adapters/adapter.ts';
import { listCluster, listOnce } from '../../../src/cli/cluster-state.ts';
import { CliError } from '../../../src/cli/output.ts';

const namespace = { kind: 'Add', object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } } } as const;
const well: SourceStatus = { synced: true, waiting: [], troubles: [], unreadable: [] };

/** `synced`: it lists everything; otherwise it waits until it is stopped. */
function adapterThat(synced: boolean, status: SourceStatus, lists: boolean): Adapter {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((_, reject) => {
    stop = () => reject(new Error('stopped'));
  });
  stopped.catch(() => undefined);
  return {
    source: 'kube/Kubernetes',
    start: async (sink: Sink) => {
      if (lists) await sink.relistKinds(['Namespace'], [namespace]);
      if (!synced) await stopped;
    },
    stop: async () => stop(),
    status: () => status,
  };
}

describe('a cluster listed once', () => {
  it('is all that it has, as facts of its source', async () => {
    const { facts, missing } = await listOnce(adapterThat(true, well, true));
    expect(facts).toEqual([{ ...namespace, source: 'kube/Kubernetes' }]);
    expect(missing).toEqual([]);
  });

  it('names what may not be read, with the words of the server', async () => {
    const why = '/api/v1/secrets: 403 secrets is forbidden';
    const status = { ...well, synced: false, waiting: ['Secret'], troubles: [why] };
    const { facts, missing } = await listOnce(adapterThat(false, status, true), 0);
    expect(facts).toHaveLength(1);
    expect(missing).toEqual([`Secret: ${why}`]);
  });

  it('is an error if nothing could be listed, with the reason', async () => {
    const status = { ...well, synced: false, troubles: ['connect ECONNREFUSED'] };
    await expect(listOnce(adapterThat(false, status, false), 0)).rejects.toThrow(/not be listed: connect ECONNREFUSED/);
  });

  it('is an error that names the kubeconfig if that is unusable', async () => {
    const listing = listCluster({ kubeconfig: '/no/such/file', cluster: 'Kubernetes' });
    await expect(listing).rejects.toThrow(/--kubeconfig \/no\/such\/file: ENOENT/);
    await expect(listing).rejects.toBeInstanceOf(CliError);
  });
});
