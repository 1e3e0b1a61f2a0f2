// The Consul adapter against a real agent (Consul 1.19.2 under the Business Source License, built and run for tests
// only): the rig of law 9, health, ACLs, an agent that is away, and the sample as a user runs it.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConsulAdapter, type ConsulOptions } from '../../src/adapters/consul/consul-adapter.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { FoldingSink, liveChanges, type RigSource, relistAfterGap, resync } from '../../src/testing/adapter-rig.ts';
import { registrySource } from '../../src/testing/registry-rig.ts';
import { EDS, RDS } from '../../src/xds/session/types.ts';
import { Plane } from './kube/plane.ts';
import { SidecarClient } from './kube/sidecar-client.ts';
import { until } from './kube/until.ts';
import { Consul, consulOrSkip } from './registries/servers.ts';

const program = await consulOrSkip('the tests against a real Consul');
const SECRET = '7c9a6e2e-0000-4000-8000-1d2e3f4a5b6c';
const RIG_MS = 60_000;
const chance = { now: systemClock.now, after: systemClock.after, random: Math.random };

describe.runIf(program !== undefined)('a real Consul', () => {
  let consul: Consul;
  const adapters: ConsulAdapter[] = [];
  beforeAll(async () => {
    consul = await Consul.begin(program ?? '');
  });
  afterAll(() => consul?.close());
  afterEach(async () => {
    for (const adapter of adapters.splice(0)) await adapter.stop();
    const services = JSON.parse((await consul.call('GET', '/v1/agent/services')).body) as object;
    for (const id of Object.keys(services)) await consul.deregister(id);
  });

  const open = (options: Partial<ConsulOptions> = {}): ConsulAdapter => {
    const log = (): void => undefined;
    const adapter = new ConsulAdapter({ url: consul.url, namespace: 'default', chance, log, ...options });
    adapters.push(adapter);
    return adapter;
  };
  const source = (): RigSource => {
    const rig = registrySource({
      put: (name, { port, version }) =>
        consul.register({ ID: name, Name: name, Address: '10.0.0.1', Port: port, Meta: { version, protocol: 'http' } }),
      remove: name => consul.deregister(name),
      open: () => open(),
    });
    // Consul itself is a service of its catalogue.
    const seen = (raw: Parameters<NonNullable<RigSource['seen']>>[0]) =>
      JSON.stringify(raw).includes('"consul') ? undefined : rig.seen?.(raw);
    return { ...rig, seen };
  };
  const endpoints = (sink: FoldingSink): readonly string[] =>
    [...sink.state.objects.WorkloadEntry.values()]
      .map(object => `${(object.spec as { readonly address?: string }).address}`)
      .filter(address => address.startsWith('10.'))
      .sort();

  it('passes the rig of law 9', async () => {
    expect(await liveChanges(source(), 'consul/local', false, RIG_MS)).toEqual([]);
    expect(await relistAfterGap(source(), 'consul/local', RIG_MS)).toEqual([]);
    expect(await resync(source(), 'consul/local')).toEqual([]);
  });

  it('follows health, and keeps endpoints while the agent is away', async () => {
    const check = { TTL: '1h', Status: 'passing' };
    await consul.register({ ID: 'web-1', Name: 'web', Address: '10.0.0.1', Port: 80 });
    await consul.register({ ID: 'web-2', Name: 'web', Address: '10.0.0.2', Port: 80, Check: check });
    const sink = new FoldingSink('consul/local');
    const adapter = open();
    await adapter.start(sink);
    expect(endpoints(sink)).toEqual(['10.0.0.1', '10.0.0.2']);
    await consul.call('PUT', '/v1/agent/check/fail/service:web-2');
    await until('a critical instance goes', () => endpoints(sink).length === 1);
    await consul.end();
    await until('the source is unreadable', () => adapter.status().unreadable.length > 0);
    expect(endpoints(sink)).toEqual(['10.0.0.1']);
    await consul.start();
    await consul.register({ ID: 'web-3', Name: 'web', Address: '10.0.0.3', Port: 80 });
    await until('the agent is read again', () => endpoints(sink).includes('10.0.0.3'), 120_000);
    await until('nothing is unreadable', () => adapter.status().unreadable.length === 0);
  });

  it('routes by the sample, and says since when a registry is away', async () => {
    const root = join(import.meta.dirname, '../..');
    for (const [id, version] of [
      ['reviews-1', 'v1'],
      ['reviews-2', 'v2'],
    ] as const) {
      const Address = id === 'reviews-1' ? '10.11.0.1' : '10.11.0.2';
      await consul.register({ ID: id, Name: 'reviews', Address, Port: 9080, Meta: { protocol: 'http', version } });
    }
    const folder = await mkdtemp(join(tmpdir(), 'plane-'));
    const config = join(root, 'samples/consul/config');
    const args = ['--registries', 'Consul', '--consulserverURL', consul.url, '--configDir', config];
    const plane = await Plane.serve([...args, '--journal', join(folder, 'journal.db')]);
    try {
      await plane.synced();
      const proxy = new SidecarClient({ port: plane.grpc, namespace: 'default', name: 'web', routes: ['9080'] });
      await until('endpoints of both versions', () => proxy.has(EDS, '10.11.0.1') && proxy.has(EDS, '10.11.0.2'));
      await until('the routes of the VirtualService', () => proxy.has(RDS, 'outbound|9080|v2|reviews.service.consul'));
      await consul.end();
      await until('an alarm', async () =>
        /periplus_source_unreadable_since_seconds\{source="consul\/local"\} 1\d{9}/.test(
          (await plane.page('/metrics')).text,
        ),
      );
      expect((await plane.page('/debug/sourcesz')).text).toContain('"what": "consul/local"');
      expect(proxy.has(EDS, '10.11.0.1')).toBe(true);
      proxy.close();
    } finally {
      await plane.end();
      await consul.start();
      await rm(folder, { recursive: true });
    }
  });
});

describe.runIf(program !== undefined)('a real Consul with ACLs', () => {
  it('takes what a token may not see for unknown, and keeps the token out of every fact', async () => {
    const consul = await Consul.begin(program ?? '', SECRET);
    const logged: string[] = [];
    let token = SECRET;
    const adapter = new ConsulAdapter({
      url: consul.url,
      namespace: 'default',
      token: async () => token,
      chance,
      log: (_level, message) => void logged.push(message),
    });
    try {
      await consul.register({ ID: 'web-1', Name: 'web', Address: '10.0.0.1', Port: 80 });
      const sink = new FoldingSink('consul/local');
      await adapter.start(sink);
      const known = (): number => sink.state.objects.WorkloadEntry.size;
      const before = known();
      token = '';
      await consul.register({ ID: 'web-1', Name: 'web', Address: '10.0.0.1', Port: 81 });
      await consul.register({ ID: 'other', Name: 'other', Address: '10.0.0.9', Port: 80 });
      await until('the lists are filtered', () => adapter.status().unreadable.length > 0);
      expect(adapter.status().unreadable.map(({ why }) => why)).toContain('the ACL token may not see all of it');
      expect(known()).toBe(before);
      token = SECRET;
      await consul.register({ ID: 'third', Name: 'third', Address: '10.0.0.8', Port: 80 });
      await until('all is read again', () => known() === before + 2, 120_000);
      expect(JSON.stringify([sink.facts, logged, adapter.status()])).not.toContain(SECRET);
    } finally {
      await adapter.stop();
      await consul.close();
    }
  });
});
