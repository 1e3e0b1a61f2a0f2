// The ZooKeeper adapter against ZooKeeper 3.8: the rig of law 9 in both layouts, ephemeral nodes of providers whose
// sessions expire, a server that is restarted, and the sample's objects through a control plane.

import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClientTls } from '../../src/adapters/kit/http-json.ts';
import { ZooKeeperSession } from '../../src/adapters/zookeeper/session.ts';
import { ZooKeeperAdapter, type ZooKeeperBase } from '../../src/adapters/zookeeper/zookeeper-adapter.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { FoldingSink, liveChanges, type RigSource, relistAfterGap, resync } from '../../src/testing/adapter-rig.ts';
import { registrySource } from '../../src/testing/registry-rig.ts';
import { EDS, RDS } from '../../src/xds/session/types.ts';
import { Plane } from './kube/plane.ts';
import { SidecarClient } from './kube/sidecar-client.ts';
import { until } from './kube/until.ts';
import { type Certified, certify } from './openssl-certificates.ts';
import { ZooKeeper, zookeeperOrSkip } from './registries/servers.ts';
import { WritingClient } from './registries/writing-client.ts';

const program = await zookeeperOrSkip('the tests against a real ZooKeeper');
const RIG_MS = 60_000;
const chance = { now: systemClock.now, after: systemClock.after, random: Math.random };
const dubbo: ZooKeeperBase = { layout: 'dubbo', path: '/dubbo' };
const curator: ZooKeeperBase = { layout: 'curator', path: '/services' };
const provider = (name: string, address: string, query = ''): string =>
  `/dubbo/${name}/providers/${encodeURIComponent(`dubbo://${address}/${name}?${query}`)}`;

describe.runIf(program !== undefined)('a real ZooKeeper', () => {
  let zookeeper: ZooKeeper;
  let writer: WritingClient;
  const adapters: ZooKeeperAdapter[] = [];
  beforeAll(async () => {
    zookeeper = await ZooKeeper.begin(program ?? '');
  });
  // A session that only writes sends no pings, so each test has its own.
  beforeEach(async () => {
    writer = await WritingClient.connect(zookeeper.port);
    await writer.put('/dubbo');
    await writer.put('/services');
  });
  afterAll(() => zookeeper?.close());
  afterEach(async () => {
    for (const adapter of adapters.splice(0)) await adapter.stop();
    writer.close();
  });

  const open = (...bases: readonly ZooKeeperBase[]): ZooKeeperAdapter => {
    const log = (): void => undefined;
    const session = new ZooKeeperSession({ servers: [{ host: '127.0.0.1', port: zookeeper.port }], chance, log });
    const options = { name: 'main', session, bases, namespace: 'default', domain: 'service.zookeeper' };
    const adapter = new ZooKeeperAdapter({ ...options, chance, log });
    adapters.push(adapter);
    return adapter;
  };
  const source = (base: ZooKeeperBase): RigSource => {
    const nodes = new Map<string, string>();
    return registrySource({
      put: async (name, { port, version }) => {
        if (base.layout === 'curator') {
          const instance = { address: '10.0.0.1', port, payload: { metadata: { version } } };
          return writer.put(`/services/${name}/one`, JSON.stringify(instance));
        }
        const node = provider(name, `10.0.0.1:${port}`, `aeraki_meta_app_version=${version}`);
        const before = nodes.get(name);
        nodes.set(name, node);
        await writer.put(node);
        if (before !== undefined && before !== node) await writer.remove(before);
      },
      remove: async name =>
        writer.remove(base.layout === 'curator' ? `/services/${name}/one` : (nodes.get(name) ?? '')),
      open: () => open(base),
    });
  };
  const clear = async (base: ZooKeeperBase): Promise<void> => {
    const rig = source(base);
    for (const name of ['a', 'b', 'c', 'd', 'route']) await rig.set(name, undefined);
  };

  it.each([dubbo, curator])('passes the rig of law 9 in the layout $layout', async base => {
    const rig = source(base);
    expect(await liveChanges(rig, 'zookeeper/main', false, RIG_MS)).toEqual([]);
    expect(await relistAfterGap(rig, 'zookeeper/main', RIG_MS)).toEqual([]);
    expect(await resync(rig, 'zookeeper/main')).toEqual([]);
    for (const name of ['a', 'b', 'c', 'd', 'route']) await rig.set(name, undefined);
    await clear(base);
  });

  it('drops a provider whose session expires, and loses nothing over a restart', async () => {
    const providing = await WritingClient.connect(zookeeper.port, 1_000);
    await providing.put(provider('Hello', '10.0.0.1:20880'), '', true);
    await writer.put(provider('Hello', '10.0.0.2:20880'));
    const sink = new FoldingSink('zookeeper/main');
    const adapter = open(dubbo);
    await adapter.start(sink);
    const endpoints = (): readonly string[] =>
      [...sink.state.objects.WorkloadEntry.values()]
        .map(object => String((object.spec as { readonly address?: string }).address))
        .sort();
    expect(endpoints()).toEqual(['10.0.0.1', '10.0.0.2']);
    providing.vanish();
    await until('the session of the provider expires', () => endpoints().length === 1);
    await zookeeper.end();
    await until('the source is unreadable', () => adapter.status().unreadable.length > 0);
    expect(endpoints()).toEqual(['10.0.0.2']);
    await zookeeper.start();
    writer = await WritingClient.connect(zookeeper.port);
    await writer.put(provider('Hello', '10.0.0.3:20880'));
    await until('it is read again', () => endpoints().length === 2, 120_000);
    await until('nothing is unreadable', () => adapter.status().unreadable.length === 0);
  });

  it('routes by the sample', async () => {
    for (const [id, version] of [
      ['one', 'v1'],
      ['two', 'v2'],
    ] as const) {
      const address = id === 'one' ? '10.12.0.1' : '10.12.0.2';
      const payload = { metadata: { protocol: 'http', version } };
      await writer.put(`/services/reviews/${id}`, JSON.stringify({ address, port: 9080, payload }));
    }
    const folder = await mkdtemp(join(tmpdir(), 'plane-'));
    const args = ['--registries', 'ZooKeeper', '--zookeeperAddr', `127.0.0.1:${zookeeper.port}`];
    const config = join(import.meta.dirname, '../../samples/zookeeper/config');
    const paths = ['--zookeeperPaths', 'curator:/services', '--configDir', config];
    const plane = await Plane.serve([...args, ...paths, '--journal', join(folder, 'journal.db')]);
    try {
      await plane.synced();
      const proxy = new SidecarClient({ port: plane.grpc, namespace: 'default', name: 'web', routes: ['9080'] });
      await until('endpoints of both versions', () => proxy.has(EDS, '10.12.0.1') && proxy.has(EDS, '10.12.0.2'));
      await until('the routes of the VirtualService', () =>
        proxy.has(RDS, 'outbound|9080|v2|reviews.service.zookeeper'),
      );
      writer = await WritingClient.connect(zookeeper.port);
      await writer.remove('/services/reviews/two');
      await until('a gone endpoint', () => !proxy.has(EDS, '10.12.0.2'));
      proxy.close();
    } finally {
      await plane.end();
      await rm(folder, { recursive: true });
    }
  });
});

describe.runIf(program !== undefined)('a real ZooKeeper over TLS', () => {
  let zookeeper: ZooKeeper;
  let folder: string;
  let certified: Certified;
  const read = (path: string): string => readFileSync(path, 'utf8');
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'zookeeper-tls-'));
    certified = certify(folder);
    zookeeper = await ZooKeeper.begin(program ?? '', certified);
  });
  afterAll(async () => {
    await zookeeper?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('is read by a client with a certificate, and by none without', async () => {
    const writer = await WritingClient.connect(zookeeper.port);
    await writer.put('/services');
    await writer.put('/services/shop/one', JSON.stringify({ address: '10.0.0.7', port: 80, payload: {} }));
    const port = zookeeper.securePort;
    const log = (): void => undefined;
    const adapterWith = (tls: ClientTls): ZooKeeperAdapter => {
      const session = new ZooKeeperSession({ servers: [{ host: '127.0.0.1', port }], chance, log, tls });
      const options = { name: 'main', session, bases: [curator], namespace: 'default', domain: 'service.zookeeper' };
      return new ZooKeeperAdapter({ ...options, chance, log });
    };
    const ca = read(certified.ca);
    const known = adapterWith({ ca, cert: read(certified.clientCert), key: read(certified.clientKey) });
    const stranger = adapterWith({ ca });
    const [sink, none] = [new FoldingSink('zookeeper/main'), new FoldingSink('zookeeper/main')];
    const refused = stranger.start(none).catch(() => undefined);
    await known.start(sink);
    expect([...sink.state.objects.WorkloadEntry.values()]).toHaveLength(1);
    await until('the refusal of a client without a certificate', () => stranger.status().troubles.length > 0);
    expect(none.state.objects.WorkloadEntry.size).toBe(0);
    await Promise.all([known.stop(), stranger.stop()]);
    await refused;
    writer.close();
  });
});
