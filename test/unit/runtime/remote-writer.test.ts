// When a remote cluster is written to: after its own list, and after those of all other sources.

import { expect, it } from 'vitest';
import type { Sink } from '../../../src/adapters/adapter.ts';
import type { RemoteConnection } from '../../../src/adapters/kube/remote.ts';
import type { RemoteCluster } from '../../../src/core/clusters/remote-clusters.ts';
import { RemoteClusterRunner } from '../../../src/runtime/remote-cluster.ts';
import { settle } from '../../sim/fake-clock.ts';

it('a remote cluster is written to once every source has been listed in this process, not before', async () => {
  const did: string[] = [];
  const part = (name: string) => ({
    source: name,
    start: async () => void did.push(`${name} starts`),
    stop: async () => void did.push(`${name} stops`),
    status: () => ({ synced: true, waiting: [], troubles: [], unreadable: [] }),
  });
  const connection = { adapter: part('kube/east'), writer: part('writer/east'), shown: 'east', close: () => undefined };
  let allow: () => void = () => undefined;
  const runner = new RemoteClusterRunner(
    { id: 'east', secret: 'istio-system/east', kubeconfig: {}, refused: undefined } as RemoteCluster,
    {
      connect: async () => connection as unknown as RemoteConnection,
      sink: {} as Sink,
      writerSink: {} as Sink,
      mayWrite: new Promise(resolve => {
        allow = resolve;
      }),
      timeoutMs: 0,
      clock: { now: () => 0, after: () => ({ cancel: () => undefined }) },
      log: () => undefined,
      changed: () => undefined,
      timedOut: () => undefined,
    },
  );
  await settle();
  expect([runner.status, did]).toEqual(['synced', ['kube/east starts']]);
  allow();
  await settle();
  expect(did).toEqual(['kube/east starts', 'writer/east starts']);
  await runner.stop();
  expect(did.slice(2).sort()).toEqual(['kube/east stops', 'writer/east stops']);
});
