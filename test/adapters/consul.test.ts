// The Consul adapter in the rig of law 9, and its rules of blocking queries, ACLs and losses. A real server:
// test/e2e/consul.test.ts.

import { afterEach, describe, expect, it } from 'vitest';
import { ConsulAdapter, type ConsulOptions } from '../../src/adapters/consul/consul-adapter.ts';
import type { Obj } from '../../src/core/model/object.ts';
import type { RigSource } from '../../src/testing/adapter-rig.ts';
import {
  FoldingSink,
  liveChanges,
  relistAfterGap,
  reorderedSources,
  resync,
  unreadablePart,
} from '../../src/testing/adapter-rig.ts';
import { registrySource } from '../../src/testing/registry-rig.ts';
import { FakeConsul, type FakeInstance } from './fake-consul.ts';
import { VirtualTime } from './virtual-time.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Scene {
  readonly consul: FakeConsul;
  readonly time: VirtualTime;
  readonly logged: string[];
  open(options?: Partial<ConsulOptions>): ConsulAdapter;
}

async function scene(datacenter?: string): Promise<Scene> {
  const consul = new FakeConsul();
  const url = await consul.listen();
  closing.push(() => consul.close());
  const time = new VirtualTime();
  const logged: string[] = [];
  const log = (level: string, message: string) => void logged.push(`${level} ${message}`);
  const open = (options: Partial<ConsulOptions> = {}) =>
    new ConsulAdapter({ url, datacenter, namespace: 'default', chance: time, log, ...options });
  return { consul, time, logged, open };
}

async function rigSource(datacenter?: string, token?: string): Promise<RigSource> {
  const { consul, time, open } = await scene(datacenter);
  return registrySource({
    put: async (name, { port, version }) =>
      consul.set(name, [{ id: `${name}-1`, port, meta: { version, protocol: 'http' } }]),
    remove: async name => consul.set(name, []),
    hide: async hidden => {
      consul.visible = hidden ? name => name === 'route' : undefined;
      consul.moved();
    },
    pass: () => time.pass(20_000),
    open: () => open(token === undefined ? {} : { token: async () => token }),
  });
}

describe('law 9: the Consul adapter passes the rig', () => {
  it.each([false, true])('records adds, updates and deletes (each event sent twice: %s)', async twice => {
    expect(await liveChanges(await rigSource(), 'consul/local', twice)).toEqual([]);
  });
  it('records the differences when it lists after a gap', async () => {
    expect(await relistAfterGap(await rigSource(), 'consul/local')).toEqual([]);
  });
  it('records no object for a list without differences', async () => {
    expect(await resync(await rigSource(), 'consul/local')).toEqual([]);
  });
  it.each([undefined, 'a-token'])('takes a list that ACLs have filtered for incomplete (token: %s)', async token => {
    expect(await unreadablePart(await rigSource(undefined, token), 'consul/local')).toEqual([]);
  });
  it('gives the same result in any order of datacenters', async () => {
    const sources = [await rigSource('dc1'), await rigSource('dc2')] as const;
    expect(await reorderedSources(...sources, ['consul/dc1', 'consul/dc2'])).toEqual([]);
  });
});

/** `address:port` of the recorded instances. */
function endpoints(sink: FoldingSink): readonly string[] {
  const found: string[] = [];
  for (const object of sink.state.objects.WorkloadEntry.values()) {
    const { spec } = object as Obj<'WorkloadEntry'>;
    found.push(`${spec.address}:${Object.values(spec.ports ?? {}).join()}`);
  }
  return found.sort();
}

const instances = (count: number): readonly FakeInstance[] =>
  Array.from({ length: count }, (_, i) => ({ id: `i${i}`, port: 80, address: `10.0.1.${i}` }));

async function running(with_: Scene, options?: Partial<ConsulOptions>, sink = new FoldingSink('consul/local')) {
  const adapter = with_.open(options);
  closing.push(() => adapter.stop());
  await adapter.start(sink);
  return { adapter, sink };
}

async function until(with_: Scene, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !holds(); i++) {
    await with_.time.pass(1_000);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  expect(holds()).toBe(true);
}

describe('the Consul adapter', () => {
  it('leaves out critical instances and keeps their service', async () => {
    const consul = await scene();
    consul.consul.set('web', [...instances(2), { id: 'ill', port: 80, address: '10.0.2.1', status: 'critical' }]);
    const { sink } = await running(consul);
    expect(endpoints(sink)).toEqual(['10.0.1.0:80', '10.0.1.1:80']);
    consul.consul.set('web', [{ id: 'i0', port: 80, address: '10.0.1.0', status: 'critical' }]);
    await until(consul, () => endpoints(sink).length === 0);
    const entries = [...sink.state.objects.ServiceEntry.values()] as readonly Obj<'ServiceEntry'>[];
    expect(entries.map(({ spec }) => spec.hosts)).toEqual([['web.service.consul']]);
  });

  it('asks again without an index when the index goes back, and takes the content', async () => {
    const consul = await scene();
    consul.consul.set('web', instances(1));
    const { sink } = await running(consul);
    consul.consul.services.set('web', instances(2));
    consul.consul.moved(-5);
    await until(consul, () => endpoints(sink).length === 2);
    expect(consul.consul.asked.filter(path => path === '/v1/health/service/web?index=0')).toHaveLength(2);
  });

  it('keeps a bounded rate while the index moves and nothing changes', async () => {
    const consul = await scene();
    consul.consul.set('web', instances(1));
    const { sink } = await running(consul);
    const before = sink.facts.length;
    for (let second = 0; second < 60; second++) {
      consul.consul.moved();
      await new Promise(resolve => setTimeout(resolve, 3));
      await consul.time.pass(1_000);
    }
    expect(sink.facts).toHaveLength(before);
    expect(consul.consul.asked.filter(path => path.startsWith('/v1/health')).length).toBeLessThan(15);
  });

  it('keeps everything while the agent fails, says since when, and goes on afterwards', async () => {
    const consul = await scene();
    consul.consul.set('web', instances(2));
    const { adapter, sink } = await running(consul);
    consul.consul.failing = 500;
    consul.consul.moved();
    await until(consul, () => adapter.status().unreadable.length === 2);
    expect(adapter.status().unreadable.map(({ what, why }) => `${what}: ${why}`)).toEqual([
      'consul/local: status 500: the agent is ill',
      'consul/local/web: status 500: the agent is ill',
    ]);
    expect(endpoints(sink)).toHaveLength(2);
    consul.consul.failing = undefined;
    consul.consul.set('web', instances(1));
    await until(consul, () => endpoints(sink).length === 1);
    await until(consul, () => adapter.status().unreadable.length === 0);
  });

  it('holds back the loss of most instances for a minute, and believes it then', async () => {
    const consul = await scene();
    consul.consul.set('web', instances(20));
    const { adapter, sink } = await running(consul);
    consul.consul.set('web', instances(2));
    await until(consul, () => adapter.status().troubles.length > 0);
    expect(endpoints(sink)).toHaveLength(20);
    expect(adapter.status().troubles[0]).toContain('18 objects vanished at once');
    await until(consul, () => endpoints(sink).length === 2);
    expect(adapter.status().troubles).toEqual([]);
  });

  it('brings back instances within the minute without a change', async () => {
    const consul = await scene();
    consul.consul.set('web', instances(20));
    const { adapter, sink } = await running(consul);
    const before = sink.facts.length;
    consul.consul.set('web', instances(2));
    await until(consul, () => adapter.status().troubles.length > 0);
    consul.consul.set('web', instances(20));
    await until(consul, () => adapter.status().troubles.length === 0);
    expect(sink.facts).toHaveLength(before);
  });

  it('reports a service whose name makes no host, with the reason', async () => {
    const consul = await scene();
    consul.consul.set('web_1', instances(1));
    const { sink } = await running(consul);
    expect([...sink.state.malformed.entries()].map(([key, { reasons }]) => `${key}: ${reasons.join()}`)).toEqual([
      expect.stringMatching(/^consul\/local\|consul\/local\/web_1: web_1: the host .*web_1/),
    ]);
  });

  it('sends the token in a header, and has it in no fact, log line or status', async () => {
    const consul = await scene();
    consul.consul.set('web', instances(1));
    const { adapter, sink } = await running(consul, { token: async () => 's3cr3t-token' });
    consul.consul.failing = 403;
    consul.consul.moved();
    await until(consul, () => adapter.status().unreadable.length === 2);
    expect([...consul.consul.tokens]).toEqual(['s3cr3t-token']);
    expect(JSON.stringify([sink.facts, adapter.status(), consul.logged])).not.toContain('s3cr3t');
  });
});
