// What a replica that follows asks remote clusters itself, while the leader reads them.

import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { emptyState } from '../../../src/core/state.ts';
import { AccessAdapter } from '../../../src/identity/sources/access-adapter.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { RemoteClusterSet } from '../../../src/runtime/remote-clusters.ts';
import { World } from '../../../src/runtime/world.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';
import { kubeconfigText, remoteSecret } from '../core/clusters/secrets.ts';
import { nodeOf } from '../world.ts';

const CONFIG = 'kube/Kubernetes';
const named = (server: string): Unrecorded => ({
  source: CONFIG,
  kind: 'Update',
  object: remoteSecret('east', { east: kubeconfigText(server) }),
});
const gone: Unrecorded = {
  source: CONFIG,
  kind: 'Delete',
  ref: { apiVersion: 'v1', kind: 'Secret', namespace: 'istio-system', name: 'east' },
};
const gateway: readonly Unrecorded[] = [
  {
    source: 'xds',
    kind: 'ProxyConnected',
    connection: 'gw',
    protocol: 'delta',
    node: nodeOf({ type: 'router', namespace: 'edge', metadata: { SERVICE_ACCOUNT: 'gw', CLUSTER_ID: 'east' } }),
    identities: ['spiffe://td/ns/edge/sa/gw'],
    proof: { how: 'forwarded', peer: '' },
  },
  {
    source: 'xds',
    kind: 'ProxySubscribed',
    connection: 'gw',
    typeUrl: 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
    wildcard: false,
    ...{ subscribe: ['kubernetes://cert'], unsubscribe: [] },
  },
];

/** A replica whose sources another one writes: what it would write of them is a mistake. */
function follower(stopMs = 0) {
  const clock = new FakeClock();
  const journal = openMemoryJournal({ clock: () => clock.now() });
  const log = (): void => undefined;
  const own = new World({ journal, state: emptyState, clock, strict: false, log });
  const listed: string[] = [];
  const closed: string[] = [];
  const refuse = (): Promise<never> => Promise.reject(new Error('this replica does not lead'));
  const world = {
    get state() {
      return own.state;
    },
    listen: (listener: Parameters<World['listen']>[0]) => own.listen(listener),
    recordNews: refuse,
    record: refuse,
  };
  const set = new RemoteClusterSet({
    ...{ world, own, clock, log, isPaused: true },
    connect: async ({ kubeconfig }) => {
      const name = new URL(kubeconfig!.server).hostname;
      const status = () => ({ synced: false, waiting: [], troubles: [], unreadable: [] });
      const nothing = async (): Promise<void> => undefined;
      const start = async (): Promise<void> => void listed.push(name);
      return {
        adapter: { source: 'kube/east', start, stop: nothing, status, showListed: nothing },
        call: async () => ({ status: 201, body: { server: name, status: { allowed: name === 'one' } } }),
        shown: name,
        close: () => void closed.push(name),
      };
    },
    rights: (cluster, call) => {
      const adapter = new AccessAdapter({ cluster, call, after: clock.after.bind(clock), log });
      const stop = adapter.stop.bind(adapter);
      const wait = (): Promise<void> => new Promise(resolve => void clock.after(stopMs, resolve));
      return stopMs === 0 ? adapter : Object.assign(adapter, { stop: () => stop().then(wait) });
    },
  });
  const pass = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    while (clock.next(until)) await settle(4);
    await settle();
  };
  const rights = (): readonly unknown[] => [...own.state.objects.SecretAccess.values()].map(({ spec }) => spec);
  return { own, set, pass, rights, listed, closed };
}

describe('a replica that follows', () => {
  it('asks a remote cluster about its own proxies, and lists nothing of it', async () => {
    const { own, set, pass, rights, listed } = follower();
    await own.record([named('one'), ...gateway]);
    await pass(1_000);
    expect(rights()).toEqual([{ allowed: true }]);
    expect((await set.callOf('east')?.('POST', '/tokenreviews'))?.body).toMatchObject({ server: 'one' });
    expect([listed, set.rows(), set.isReady()]).toEqual([[], [], true]);
    await set.stop();
  });

  it('uses the credentials of a changed Secret, and forgets the rights of a cluster that is removed', async () => {
    const { own, set, pass, rights, closed } = follower();
    await own.record([named('one'), ...gateway]);
    await pass(1_000);
    await own.record([named('two')]);
    await pass(300_000);
    expect([closed, rights()]).toEqual([['one'], [{ allowed: false }]]);
    await own.record([gone]);
    await pass(1_000);
    expect([closed, rights(), set.callOf('east')]).toEqual([['one', 'two'], [], undefined]);
    await set.stop();
  });

  it('keeps the rights of a cluster that comes back before it has been forgotten', async () => {
    const { own, set, pass, rights } = follower(5_000);
    await own.record([named('one'), ...gateway]);
    await pass(1_000);
    await own.record([gone]);
    await own.record([named('one')]);
    await pass(10_000);
    expect(rights()).toEqual([{ allowed: true }]);
    expect((await set.callOf('east')?.('POST', '/tokenreviews'))?.body).toMatchObject({ server: 'one' });
    // Its time does not go on, so it does not end.
    void set.stop();
  });
});
