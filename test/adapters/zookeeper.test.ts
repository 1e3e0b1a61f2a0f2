// The ZooKeeper adapter in the rig of law 9, in both layouts, and what lost connections and sessions do. A real server:
// test/e2e/zookeeper.test.ts.

import { afterEach, describe, expect, it } from 'vitest';
import { ZooKeeperSession } from '../../src/adapters/zookeeper/session.ts';
import { ZooKeeperAdapter, type ZooKeeperBase } from '../../src/adapters/zookeeper/zookeeper-adapter.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import {
  FoldingSink,
  liveChanges,
  type RigSource,
  relistAfterGap,
  reorderedSources,
  resync,
  unreadablePart,
} from '../../src/testing/adapter-rig.ts';
import { registrySource } from '../../src/testing/registry-rig.ts';
import { FakeZooKeeper } from './fake-zookeeper.ts';
import { VirtualTime } from './virtual-time.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const dubbo: ZooKeeperBase = { layout: 'dubbo', path: '/dubbo' };
const curator: ZooKeeperBase = { layout: 'curator', path: '/services' };
const provider = (name: string, address: string, query = '') =>
  `/dubbo/${name}/providers/${encodeURIComponent(`dubbo://${address}/${name}?${query}`)}`;

async function scene(base: ZooKeeperBase, name = 'main') {
  const server = new FakeZooKeeper();
  server.set(`${base.path}/route/keep`, '{}');
  server.set(`${base.path}/route/keep`, undefined);
  server.set(base.path, '');
  const port = await server.listen();
  closing.push(() => server.close());
  const time = new VirtualTime();
  const logged: string[] = [];
  const log = (level: string, message: string) => void logged.push(`${level} ${message}`);
  const chance = { ...systemClock, random: () => 0 };
  const open = (auth?: () => Promise<string>): ZooKeeperAdapter => {
    const session = new ZooKeeperSession({ servers: [{ host: '127.0.0.1', port }], chance, log, auth });
    const options = { name, session, bases: [base], namespace: 'default', domain: 'service.zookeeper' };
    return new ZooKeeperAdapter({ ...options, chance: time, log });
  };
  return { server, port, time, logged, open };
}

async function rigSource(base: ZooKeeperBase, name?: string): Promise<RigSource> {
  const { server, time, open } = await scene(base, name);
  const known = new Map<string, string>();
  return registrySource({
    put: async (service, { port, version }) => {
      if (base.layout === 'curator') {
        const payload = { metadata: { version, protocol: 'http' } };
        return server.set(`/services/${service}/one`, JSON.stringify({ address: '10.0.0.1', port, payload }));
      }
      const node = provider(service, `10.0.0.1:${port}`, `aeraki_meta_app_version=${version}`);
      const before = known.get(service);
      if (before === node) return;
      known.set(service, node);
      server.set(node, '');
      if (before !== undefined) server.set(before, undefined);
    },
    remove: async service => {
      server.set(base.layout === 'curator' ? `/services/${service}/one` : (known.get(service) ?? ''), undefined);
      known.delete(service);
    },
    hide: async hidden => {
      server.hidden = path => hidden && path !== base.path && !path.includes('/route');
      server.drop();
    },
    pass: () => time.pass(30_000),
    open: () => open(),
  });
}

describe.each([dubbo, curator])('law 9: the ZooKeeper adapter passes the rig in the layout $layout', base => {
  it.each([false, true])('records adds, updates and deletes (each event sent twice: %s)', async twice => {
    expect(await liveChanges(await rigSource(base), 'zookeeper/main', twice)).toEqual([]);
  });
  it('records the differences when it lists after a gap', async () => {
    expect(await relistAfterGap(await rigSource(base), 'zookeeper/main')).toEqual([]);
  });
  it('records no object for a list without differences', async () => {
    expect(await resync(await rigSource(base), 'zookeeper/main')).toEqual([]);
  });
  it('takes nodes that may not be read for unknown, never for empty', async () => {
    expect(await unreadablePart(await rigSource(base), 'zookeeper/main')).toEqual([]);
  });
  it('gives the same result in any order of ensembles', async () => {
    const sources = [await rigSource(base, 'east'), await rigSource(base, 'west')] as const;
    expect(await reorderedSources(...sources, ['zookeeper/east', 'zookeeper/west'])).toEqual([]);
  });
});

type Scene = Awaited<ReturnType<typeof scene>>;

async function running({ open }: Scene, auth?: () => Promise<string>) {
  const sink = new FoldingSink('zookeeper/main');
  const adapter = open(auth);
  closing.push(() => adapter.stop());
  await adapter.start(sink);
  const endpoints = (): number => sink.state.objects.WorkloadEntry.size;
  return { adapter, sink, endpoints };
}

async function until({ time }: Scene, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !holds(); i++) {
    await time.pass(1_000);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  expect(holds()).toBe(true);
}

describe('the ZooKeeper adapter', () => {
  it('keeps everything while the server is away, says since when, and reads again afterwards', async () => {
    const here = await scene(dubbo);
    here.server.set(provider('Hello', '10.0.0.1:20880'), '');
    const { adapter, endpoints } = await running(here);
    await here.server.close();
    await until(here, () => adapter.status().unreadable.length === 1);
    expect(adapter.status().unreadable[0]?.what).toBe('zookeeper/main');
    expect(adapter.status().unreadable[0]?.why).toContain('127.0.0.1');
    expect(endpoints()).toBe(1);
    here.server.set(provider('Hello', '10.0.0.2:20880'), '');
    await here.server.listen(here.port);
    await until(here, () => endpoints() === 2);
    await until(here, () => adapter.status().unreadable.length === 0);
  });

  it('keeps its session over a lost connection, and begins a new one after its expiry', async () => {
    const here = await scene(dubbo);
    here.server.set(provider('Hello', '10.0.0.1:20880'), '');
    const { endpoints } = await running(here);
    here.server.drop();
    await until(here, () => here.server.sessions.length === 2);
    // The watches of the session are set again.
    here.server.set(provider('Hello', '10.0.0.3:20880'), '');
    await until(here, () => endpoints() === 2);
    here.server.expiring = true;
    here.server.drop();
    await until(here, () => here.server.sessions.length === 4);
    expect(here.server.sessions).toEqual([0n, 101n, 101n, 0n]);
    expect(endpoints()).toBe(2);
    here.server.set(provider('Hello', '10.0.0.2:20880'), '');
    await until(here, () => endpoints() === 3);
  });

  it('takes a base that is missing for unknown, and follows it once it is made', async () => {
    const here = await scene(dubbo);
    here.server.nodes.clear();
    const { adapter, endpoints } = await running(here);
    expect(adapter.status().unreadable.map(({ why }) => why)).toEqual(['there is no node /dubbo']);
    here.server.set(provider('Hello', '10.0.0.1:20880'), '');
    await until(here, () => endpoints() === 1);
    await until(here, () => adapter.status().unreadable.length === 0);
  });

  it('authenticates, and has the password and the tokens of providers in no fact, log line or status', async () => {
    const here = await scene(dubbo);
    here.server.set(provider('Hello', '10.0.0.1:20880', 'token=s3cr3t&application=shop'), '');
    const { adapter, sink, endpoints } = await running(here, async () => 'reader:s3cr3t');
    expect([here.server.auths, endpoints()]).toEqual([['reader:s3cr3t'], 1]);
    expect(JSON.stringify([sink.facts, adapter.status(), here.logged])).not.toContain('s3cr3t');
    expect(JSON.stringify(sink.facts)).toContain('"application":"shop"');
  });

  it('leaves out disabled instances and nodes that describe none', async () => {
    const here = await scene(curator);
    here.server.set('/services/shop/a', JSON.stringify({ address: '10.0.0.1', port: 80 }));
    here.server.set('/services/shop/b', JSON.stringify({ address: '10.0.0.2', port: 80, enabled: false }));
    here.server.set('/services/shop/c', 'not JSON');
    const down = { metadata: { instance_status: 'OUT_OF_SERVICE' } };
    here.server.set('/services/shop/d', JSON.stringify({ address: '10.0.0.3', port: 80, payload: down }));
    const { endpoints } = await running(here);
    expect(endpoints()).toBe(1);
    expect(here.logged.join()).toContain('zookeeper/main/services/shop: 1 nodes describe no instance');
    here.server.set('/services/shop/d', JSON.stringify({ address: '10.0.0.3', port: 80 }));
    await until(here, () => endpoints() === 2);
  });
});
