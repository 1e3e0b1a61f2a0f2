// Remote clusters while they come, go, change their credentials and fail, over API servers in memory.

import { describe, expect, it } from 'vitest';
import { noPush } from '../../../src/core/push-request.ts';
import { ALLOWED_MS } from '../../../src/identity/sources/access-adapter.ts';
import { kubeconfigText, remoteSecret } from '../core/clusters/secrets.ts';
import { nodeOf } from '../world.ts';
import { bench, east, keysOf, MemoryWorld, SECOND, service, slice } from './remote-bench.ts';

describe('a remote cluster', () => {
  it('comes into sight in one batch, once everything is listed', async () => {
    const { time, world, server, put, statuses } = bench();
    server('one').set(service('web'));
    server('one').set(slice('web'));
    await put(east('one'));
    const before = world.batches.length;
    await time.pass(SECOND);
    expect(statuses()).toEqual(['east synced']);
    expect(world.endpoints).toEqual(['east/web']);
    expect(world.batches.slice(before).map(batch => batch.map(({ kind }) => kind))).toEqual([
      ['Add', 'Add'],
      ['Synced'],
    ]);
  });

  it('comes into sight later if that is refused at first, with what changed meanwhile', async () => {
    const world = new MemoryWorld();
    const { time, server, put, statuses, logged } = bench({}, world);
    server('one').set(service('web'));
    server('one').set(slice('web'));
    const record = world.recordNews.bind(world);
    const end = time.now() + 3 * SECOND;
    world.recordNews = async news => {
      const facts = [...news(world.state)];
      if (time.now() > end || !facts.some(fact => fact?.source === 'kube/east')) return record(() => facts);
      server('one').set(slice('late'));
      for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve));
      throw new Error('another replica writes what the sources say');
    };
    await put(east('one'));
    await time.pass(60 * SECOND);
    expect(logged.filter(line => line.includes('another replica writes'))).not.toEqual([]);
    expect([statuses(), [...world.endpoints].sort()]).toEqual([['east synced'], ['east/late', 'east/web']]);
  });

  it('is watched from then on, and its routing is not read', async () => {
    const { time, world, server, put } = bench();
    await put(east('one'));
    await time.pass(SECOND);
    server('one').set(slice('late'));
    server('one').set({
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'v', namespace: 'shop' },
      spec: { hosts: ['web'], http: [{ route: [{ destination: { host: 'web' } }] }] },
    });
    await time.pass(SECOND);
    expect(world.endpoints).toEqual(['east/late']);
    expect(
      server('one').requests.filter(request => request.startsWith('/apis/networking.istio.io/v1/virtualservices')),
    ).toEqual([]);
    expect(world.state.objects.VirtualService.size).toBe(0);
  });

  it('is asked for its WorkloadEntries and Gateways, which are no configuration of the mesh', async () => {
    const { time, world, server, put, drop } = bench();
    const metadata = { name: 'one', namespace: 'shop', labels: { app: 'web' } };
    const machine = { apiVersion: 'networking.istio.io/v1', kind: 'WorkloadEntry', metadata };
    server('one').set({ ...machine, spec: { address: '10.9.1.1' } });
    const listeners = [{ name: 'mtls', port: 15443, protocol: 'TLS', tls: { mode: 'Passthrough' } }];
    const gateway = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', metadata };
    server('one').set({ ...gateway, spec: { gatewayClassName: 'istio', listeners } });
    await put(east('one'));
    await time.pass(SECOND);
    const { objects } = world.state;
    expect(keysOf(objects.RemoteWorkloadEntry, objects.RemoteGateway)).toEqual(['east/shop/one', 'east/shop/one']);
    expect([objects.WorkloadEntry.size, objects.KubernetesGateway.size]).toEqual([0, 0]);
    server('one').remove(machine);
    await time.pass(SECOND);
    expect(keysOf(world.state.objects.RemoteWorkloadEntry)).toEqual([]);
    await drop('east');
    await time.pass(SECOND);
    expect(keysOf(world.state.objects.RemoteGateway)).toEqual([]);
  });

  it('is removed in one batch when its Secret is deleted or loses the label', async () => {
    const { time, world, server, put, drop, statuses, observed } = bench();
    server('one').set(service('web'));
    server('one').set(slice('web'));
    await put(east('one'));
    await time.pass(SECOND);
    const before = world.batches.length;
    await drop('east');
    await time.pass(SECOND);
    expect([world.endpoints, statuses()]).toEqual([[], []]);
    const last = world.batches.slice(before).filter(batch => batch[0]?.source === 'kube/east');
    expect(last.map(batch => batch.length)).toEqual([2]);
    await put(east('one'));
    await time.pass(SECOND);
    expect(world.endpoints).toEqual(['east/web']);
    await put({ ...east('one'), metadata: { name: 'east', namespace: 'istio-system' } });
    await time.pass(SECOND);
    expect(world.endpoints).toEqual([]);
    expect(observed.map(event => (event.kind === 'secret' ? event.event : ''))).toEqual([
      'add',
      'delete',
      'add',
      'delete',
    ]);
  });

  it('that is added again at once is listed after its objects are deleted', async () => {
    const { time, world, server, put, drop } = bench();
    server('one').set(slice('web'));
    await put(east('one'));
    await time.pass(SECOND);
    await drop('east');
    await put(east('one'));
    await time.pass(SECOND);
    expect(world.endpoints).toEqual(['east/web']);
  });

  it('keeps its last known endpoints while its API server is away', async () => {
    const { time, world, server, put, set } = bench();
    server('one').set(slice('web'));
    await put(east('one'));
    await time.pass(SECOND);
    server('one').down = true;
    await time.pass(3_600 * SECOND);
    expect(world.endpoints).toEqual(['east/web']);
    expect(set.report()[0]!.troubles).toEqual(['connection refused']);
    server('one').down = false;
    server('one').set(slice('new'));
    await time.pass(600 * SECOND);
    expect(world.endpoints).toEqual(['east/new', 'east/web']);
  });
});

describe('a rotated credential', () => {
  it('makes facts of the differences alone, and no endpoint is missing on the way', async () => {
    const { time, world, server, put } = bench();
    for (const name of ['one', 'two']) server(name).set(service('web'));
    for (const name of ['one', 'two']) server(name).set(slice('web'));
    server('two').set(slice('more'));
    await put(east('one'));
    await time.pass(SECOND);
    const seen = new Set<string>();
    world.listen({ onFolded: () => void seen.add(world.endpoints.join()) });
    const before = world.batches.length;
    await put(east('two'));
    await time.pass(SECOND);
    expect([...seen]).toEqual(['east/web', 'east/more,east/web']);
    const changes = world.batches
      .slice(before)
      .flat()
      .filter(({ source }) => source === 'kube/east');
    expect(changes.map(({ kind }) => kind)).toEqual(['Add', 'Synced']);
  });

  it('pushes nothing if the cluster is as it was', async () => {
    const { time, world, server, put } = bench();
    for (const name of ['one', 'two']) server(name).set(slice('web'));
    await put(east('one'));
    await time.pass(SECOND);
    await put(east('two'));
    world.pushes = noPush;
    await time.pass(SECOND);
    expect(world.pushes).toEqual(noPush);
  });

  it('that does not work leaves the old connection in use, which goes on reporting changes', async () => {
    const { time, world, server, put, set, statuses } = bench();
    server('one').set(slice('web'));
    server('two').down = true;
    await put(east('one'));
    await time.pass(SECOND);
    await put(east('two'));
    await time.pass(120 * SECOND);
    server('one').set(slice('more'));
    await time.pass(SECOND);
    expect([world.endpoints, statuses()]).toEqual([['east/more', 'east/web'], ['east synced']]);
    expect(set.report()[0]!.troubles.join()).toContain('has not been used yet');
    server('two').down = false;
    await time.pass(600 * SECOND);
    expect(world.endpoints).toEqual([]);
    server('one').set(slice('stale'));
    await time.pass(SECOND);
    expect(world.endpoints).toEqual([]);
  });

  it('that is refused leaves the old connection in use', async () => {
    const { time, world, server, put, set, logged } = bench();
    server('one').set(slice('web'));
    await put(east('one'));
    await time.pass(SECOND);
    await put(remoteSecret('east', { east: 'users: [{exec: {}}]' }));
    await time.pass(SECOND);
    server('one').set(slice('more'));
    await time.pass(SECOND);
    expect(world.endpoints).toEqual(['east/more', 'east/web']);
    expect(set.report()[0]!.troubles.join()).toContain('kubeconfig is not valid');
    expect(logged.join()).toContain('Secret istio-system/east: cluster east: kubeconfig is not valid');
  });

  it('serves calls for tokens of the cluster', async () => {
    const { time, put, set } = bench();
    await put(east('one'));
    await time.pass(SECOND);
    expect((await set.callOf('east')?.('GET', '/'))?.body).toBe('one');
    await put(east('two'));
    await time.pass(SECOND);
    expect((await set.callOf('east')?.('GET', '/'))?.body).toBe('two');
    expect(set.callOf('west')).toBeUndefined();
  });
});

describe('a right to Secrets of an account of a remote cluster', () => {
  const gateway = {
    source: 'xds',
    kind: 'ProxyConnected',
    connection: 'gw',
    protocol: 'delta',
    node: nodeOf({ type: 'router', namespace: 'edge', metadata: { SERVICE_ACCOUNT: 'gw', CLUSTER_ID: 'east' } }),
    identities: ['spiffe://td/ns/edge/sa/gw'],
    proof: { how: 'forwarded', peer: '' },
  } as const;
  const asks = {
    source: 'xds',
    kind: 'ProxySubscribed',
    connection: 'gw',
    typeUrl: 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
    wildcard: false,
    ...{ subscribe: ['kubernetes://cert'], unsubscribe: [] },
  } as const;
  const rights = ({ state }: MemoryWorld): readonly unknown[] =>
    [...state.objects.SecretAccess.values()].map(({ cluster, namespace, name, spec }) => [
      `${cluster}/${namespace}/${name}`,
      spec,
    ]);

  it('is decided by its own API server, survives a new connection, and ends with the cluster', async () => {
    const { time, world, granting, put, drop } = bench();
    granting.add('one');
    await put(east('one'));
    await world.record([gateway, asks]);
    await time.pass(SECOND);
    expect(rights(world)).toEqual([['east/edge/gw', { allowed: true }]]);
    await put(east('two'));
    await time.pass(ALLOWED_MS);
    expect(rights(world)).toEqual([['east/edge/gw', { allowed: false }]]);
    await drop('east');
    await time.pass(SECOND);
    expect(rights(world)).toEqual([]);
  });
});

describe('a remote cluster that does not answer', () => {
  it('holds back the first readiness until its time is over, and is listed when it comes', async () => {
    const { time, world, server, put, set, statuses, observed } = bench();
    server('one').down = true;
    server('one').set(slice('web'));
    await put(east('one'));
    await time.pass(29 * SECOND);
    expect([set.isReady(), statuses()]).toEqual([false, ['east syncing']]);
    await time.pass(2 * SECOND);
    expect([set.isReady(), statuses()]).toEqual([true, ['east timeout']]);
    expect(observed).toContainEqual({ kind: 'timeout', cluster: 'east' });
    server('one').down = false;
    await time.pass(600 * SECOND);
    expect([world.endpoints, statuses()]).toEqual([['east/web'], ['east synced']]);
  });

  it('holds it back for ever without a limit', async () => {
    const { time, server, put, set } = bench({ PILOT_REMOTE_CLUSTER_TIMEOUT: '0' });
    server('one').down = true;
    await put(east('one'));
    await time.pass(3_600 * SECOND);
    expect(set.isReady()).toBe(false);
  });

  it('does not end readiness if it comes later', async () => {
    const { put, set, server } = bench();
    server('one').down = true;
    set.becameReady();
    await put(east('one'));
    expect(set.isReady()).toBe(true);
  });

  it('in part shows what it has after that time, if its registry can be read', async () => {
    const { time, world, server, put, statuses } = bench();
    server('one').set(slice('web'));
    server('one').refused.set('/api/v1/secrets', 403);
    await put(east('one'));
    await time.pass(20 * SECOND);
    expect(world.endpoints).toEqual([]);
    await time.pass(20 * SECOND);
    expect([world.endpoints, statuses()]).toEqual([['east/web'], ['east timeout']]);
  });

  it('in part shows what it has also if its registry can be read only later', async () => {
    const { time, world, server, put, statuses } = bench();
    server('one').set(slice('web'));
    server('one').down = true;
    server('one').refused.set('/api/v1/secrets', 403);
    await put(east('one'));
    await time.pass(120 * SECOND);
    expect([world.endpoints, statuses()]).toEqual([[], ['east timeout']]);
    server('one').down = false;
    await time.pass(120 * SECOND);
    expect([world.endpoints, statuses()]).toEqual([['east/web'], ['east timeout']]);
    server('one').set(slice('late'));
    await time.pass(SECOND);
    expect(world.endpoints).toEqual(['east/late', 'east/web']);
  });

  it('in part shows what it has with credentials that come after that time', async () => {
    const { time, world, server, put, statuses } = bench();
    server('one').down = true;
    await put(east('one'));
    await time.pass(120 * SECOND);
    server('two').set(slice('web'));
    server('two').refused.set('/api/v1/secrets', 403);
    await put(east('two'));
    await time.pass(SECOND);
    expect([world.endpoints, statuses()]).toEqual([['east/web'], ['east timeout']]);
  });

  it('stays hidden if its registry cannot be read', async () => {
    const { time, world, server, put } = bench();
    server('one').set(slice('web'));
    server('one').refused.set('/api/v1/pods', 403);
    await put(east('one'));
    await time.pass(120 * SECOND);
    expect(world.endpoints).toEqual([]);
  });
});

describe('after a restart', () => {
  it('the objects of the journal serve at once, and those of a cluster that is not wanted any more go', async () => {
    const first = bench();
    for (const name of ['one', 'two']) first.server(name).set(slice('web'));
    await first.put(east('one'));
    await first.put(remoteSecret('west', { west: kubeconfigText('two') }));
    await first.time.pass(SECOND);
    await first.set.stop();
    await first.drop('west');
    const second = bench({}, first.world);
    second.server('one').down = true;
    expect(second.set.isReady()).toBe(true);
    second.set.removeOrphans();
    await second.time.pass(SECOND);
    expect(second.world.endpoints).toEqual(['east/web']);
  });
});
