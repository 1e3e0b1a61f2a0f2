// When a remote cluster is written to: after its own list, and after those of all other sources.

import { expect, it } from 'vitest';
import type { Sink } from '../../../src/adapters/adapter.ts';
import type { RemoteConnection } from '../../../src/adapters/kube/remote.ts';
import type { RemoteCluster } from '../../../src/core/clusters/remote-clusters.ts';
import { RemoteClusterRunner, type RemoteParts } from '../../../src/runtime/remote-cluster.ts';
import { settle } from '../../sim/fake-clock.ts';

const east = { id: 'east', secret: 'istio-system/east', kubeconfig: {}, refused: undefined } as RemoteCluster;

/** A remote cluster over connections that a test makes. */
function runnerOf(parts: Pick<RemoteParts, 'connect'> & Partial<RemoteParts>): RemoteClusterRunner {
  return new RemoteClusterRunner(east, {
    sink: {} as Sink,
    writerSink: {} as Sink,
    mayWrite: Promise.resolve(),
    timeoutMs: 0,
    clock: { now: () => 0, after: () => ({ cancel: () => undefined }) },
    log: () => undefined,
    changed: () => undefined,
    timedOut: () => undefined,
    ...parts,
  });
}

it.each(['in use', 'that comes too late'])(
  'a connection %s that cannot be stopped is logged and closed',
  async when => {
    const logged: string[] = [];
    const closed: string[] = [];
    let connects: () => void = () => undefined;
    const adapter = {
      source: 'kube/east',
      start: async () => undefined,
      stop: () => Promise.reject(new Error('stuck')),
      status: () => ({ synced: true, waiting: [], troubles: [], unreadable: [] }),
    };
    const connection = { adapter, writer: adapter, shown: 'east', close: () => void closed.push('closed') };
    const connected = new Promise<void>(resolve => {
      connects = resolve;
    });
    const runner = runnerOf({
      connect: () => connected.then(() => connection as unknown as RemoteConnection),
      log: (_, message) => void logged.push(message),
    });
    if (when === 'in use') connects();
    await settle();
    const stopped = runner.stop();
    connects();
    await stopped;
    await settle();
    expect(closed).toEqual(['closed']);
    const why = 'cluster east: a connection cannot be closed: Error: stuck';
    expect(logged.filter(line => line === why)).toHaveLength(when === 'in use' ? 2 : 1);
  },
);

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
  const runner = runnerOf({
    connect: async () => connection as unknown as RemoteConnection,
    mayWrite: new Promise(resolve => {
      allow = resolve;
    }),
  });
  await settle();
  expect([runner.status, did]).toEqual(['synced', ['kube/east starts']]);
  allow();
  await settle();
  expect(did).toEqual(['kube/east starts', 'writer/east starts']);
  await runner.stop();
  expect(did.slice(2).sort()).toEqual(['kube/east stops', 'writer/east stops']);
});
