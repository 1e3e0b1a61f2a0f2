// Services with more ports than clusters or listeners are made of in one run.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { SliceGrowth } from '../../../../src/core/query/slice-growth.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { mergedGateway } from '../../../../src/core/select/gateway/gateways.ts';
import { clusters, outwardClusters } from '../../../../src/xds/assemble/cluster/resources.ts';
import { gatewayListeners } from '../../../../src/xds/assemble/listener/gateway.ts';
import { inboundListeners } from '../../../../src/xds/assemble/listener/inbound.ts';
import { outboundListeners } from '../../../../src/xds/assemble/listener/outbound.ts';
import type { FilterChain } from '../../../../src/xds/proto/types.gen.ts';
import { service } from '../../core/registry/fixtures.ts';
import { ask, nodeOf, proxyOf, world } from '../../world.ts';

const sidecar = proxyOf(nodeOf({ namespace: 'default' }));
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => 1_000 + i);
const withPorts = (count: number): JsonObject =>
  service('web', { ports: numbers(count).map(port => ({ name: `tcp-${port}`, port })) });

describe('a service with many ports', () => {
  it('has a cluster for each of them', () => {
    const made = ask(world([withPorts(300)]), clusters, '', sidecar).map(({ name }) => name);
    const expected = numbers(300).map(port => `outbound|${port}||web.default.svc.cluster.local`);
    expect(made.filter(name => name.startsWith('outbound|'))).toEqual(expected.sort());
  });

  it('has a listener for each of them, sorted by name', () => {
    const made = ask(world([withPorts(1_200)]), outboundListeners, '', sidecar);
    const names = made.map(({ name }) => name);
    expect(names).toHaveLength(1_200);
    expect(names).toEqual([...names].sort());
    expect(new Set(made.map(({ message }) => message.address?.socketAddress?.portValue)).size).toBe(1_200);
    const few = ask(world([withPorts(900)]), outboundListeners, '', sidecar);
    expect(made.filter(({ name }) => few.some(one => one.name === name)).map(({ message }) => message)).toEqual(
      few.map(({ message }) => message),
    );
  });

  it('costs four times as much for four times the ports when it is made in slices', () => {
    const askedFor = (count: number): number => {
      const tracker = new Tracker();
      const state = world([withPorts(count)]);
      const growth = new SliceGrowth();
      const look = () => tracker.within(growth.budget(80), () => tracker.get(state, sidecar, clusters, ''));
      for (let slice = look(); slice.value === undefined; slice = look()) growth.cut(slice);
      return tracker.stats.hits + tracker.stats.runs;
    };
    expect(askedFor(1_024) / askedFor(256)).toBeLessThan(5);
  });
});

describe('services that are many', () => {
  const withServices = (count: number) => world(numbers(count).map(i => service(`s${i}`, { ports: [{ port: 80 }] })));

  it('have their clusters found in blocks', () => {
    const state = withServices(1_152);
    const tracker = new Tracker();
    const outward = tracker.get(state, sidecar, outwardClusters, '');
    const { hits } = tracker.stats;
    const made = tracker.get(state, sidecar, clusters, '');
    const hosts = (all: readonly { readonly name: string }[]) =>
      all.map(({ name }) => name).filter(name => name.startsWith('outbound|'));
    expect(hosts(made)).toEqual(hosts(outward).sort());
    expect(hosts(made)).toHaveLength(1_152);
    expect(tracker.stats.hits - hits).toBeLessThan(1_152 / 2);
  });
});

describe('a Sidecar with many ingress listeners', () => {
  const withIngress = (count: number): JsonObject => ({
    apiVersion: 'networking.istio.io/v1',
    kind: 'Sidecar',
    metadata: { name: 's', namespace: 'default' },
    spec: {
      ingress: numbers(count).map(number => ({
        port: { number, name: `tcp-${number}`, protocol: 'TCP' },
        defaultEndpoint: '127.0.0.1:80',
      })),
    },
  });
  const chainsOf = (count: number) => {
    const [listener] = ask(world([withIngress(count)]), inboundListeners, '', sidecar);
    return listener?.message.filterChains?.filter(({ metadata }) => metadata !== undefined) ?? [];
  };

  it('has the chains of each of them, in order', () => {
    const few = chainsOf(200);
    const made = chainsOf(400);
    expect(made.slice(0, few.length)).toEqual(few);
    expect(made).toHaveLength(few.length * 2);
  });

  it('has the inbound clusters of each of them, made in blocks', () => {
    const made = (count: number) => {
      const tracker = new Tracker();
      const all = tracker.get(world([withIngress(count)]), sidecar, clusters, '');
      const inbound = all.filter(({ name }) => name.startsWith('inbound|'));
      return { inbound: inbound.map(({ message }) => message), runs: tracker.stats.runs };
    };
    const [few, more] = [made(256), made(512)];
    expect(more.inbound.slice(0, 256)).toEqual(few.inbound);
    expect(more.inbound).toHaveLength(512);
    // Each listener has a selection as well.
    expect(more.runs - few.runs - 256).toBe((2 * 512) / 64);
  });

  it('costs about four times as much for four times the listeners when it is made in slices', () => {
    const askedFor = (count: number): number => {
      const tracker = new Tracker();
      const state = world([withIngress(count)]);
      const growth = new SliceGrowth();
      let found = 0;
      const look = () => tracker.within(growth.budget(80), () => tracker.get(state, sidecar, inboundListeners, ''));
      for (let slice = look(); slice.value === undefined; slice = look()) {
        found += slice.found;
        growth.cut(slice);
      }
      return tracker.stats.hits + tracker.stats.runs + found;
    };
    expect(askedFor(2_000) / askedFor(500)).toBeLessThan(5);
  });
});

describe('a PeerAuthentication with many ports', () => {
  const modes = ['STRICT', 'DISABLE', 'PERMISSIVE'];
  const withPorts = (count: number) =>
    world([
      {
        apiVersion: 'security.istio.io/v1',
        kind: 'PeerAuthentication',
        metadata: { name: 'p', namespace: 'default' },
        spec: {
          selector: { matchLabels: { app: 'web' } },
          portLevelMtls: Object.fromEntries(numbers(count).map(port => [port, { mode: modes[port % 3] }])),
        },
      },
    ]);
  const web = proxyOf(nodeOf({ namespace: 'default', labels: { app: 'web' } }));
  const portOf = (chain: FilterChain): number => chain.filterChainMatch?.destinationPort?.value ?? 0;
  const chainsOf = (count: number): readonly FilterChain[] =>
    ask(withPorts(count), inboundListeners, '', web)[0]!.message.filterChains!.filter(chain => portOf(chain) < 2_000);

  it('has the chains of each of them, in order', () => {
    const few = chainsOf(200);
    const made = chainsOf(800);
    expect(made.slice(0, few.length)).toEqual(few);
    expect([...new Set(made.map(portOf))]).toEqual([0, ...numbers(800)]);
  });

  it('has them made in blocks, so that one of tens of thousands of ports can be cut', () => {
    const runs = (count: number): number => {
      const tracker = new Tracker();
      tracker.get(withPorts(count), web, inboundListeners, '');
      return tracker.stats.runs;
    };
    expect(runs(4_096) - runs(1_024)).toBe(3_072 / 256);
  });
});

describe('a gateway with many ports', () => {
  const router = proxyOf(nodeOf({ type: 'router', namespace: 'default', labels: { app: 'gw' } }));
  const withServers = (count: number): JsonObject => ({
    apiVersion: 'networking.istio.io/v1',
    kind: 'Gateway',
    metadata: { name: 'g', namespace: 'default' },
    spec: {
      selector: { app: 'gw' },
      servers: numbers(count).map(number => ({
        port: { number: number + 1_000, name: `http-${number}`, protocol: 'HTTP' },
        hosts: [`h${number}.example.com`],
      })),
    },
  });

  it('has its servers gone through in blocks, in order', () => {
    const merged = (gateways: readonly JsonObject[]) => {
      const tracker = new Tracker();
      const { groups } = tracker.get(world(gateways), router, mergedGateway, '');
      return { ports: groups.map(({ port }) => port), runs: tracker.stats.runs };
    };
    const ports = (count: number) => numbers(count).map(number => number + 1_000);
    const [few, more] = [merged([withServers(256)]), merged([withServers(512)])];
    expect([few.ports, more.ports]).toEqual([ports(256), ports(512)]);
    expect(more.runs - few.runs).toBe(512 / 64);
    const many = Array.from({ length: 512 }, (_, i) => ({
      ...withServers(1),
      metadata: { name: `g${1_000 + i}`, namespace: 'default' },
    }));
    const [fewer, all] = [merged(many.slice(0, 256)), merged(many)];
    expect(all.runs - fewer.runs).toBe(512 / 64);
    expect(all.ports).toEqual([2_000]);
  });

  it('has each listener that is made found again as one value, when they are made in slices', () => {
    const askedFor = (count: number): number => {
      const tracker = new Tracker();
      const state = world([withServers(count)]);
      const growth = new SliceGrowth();
      let found = 0;
      const look = () => tracker.within(growth.budget(80), () => tracker.get(state, router, gatewayListeners, ''));
      let slice = look();
      for (; slice.value === undefined; slice = look()) {
        found += slice.found;
        growth.cut(slice);
      }
      expect(slice.value).toHaveLength(count);
      return found;
    };
    // Twice as much if all parts of a listener are found again, not the listener.
    expect(askedFor(1_200)).toBeLessThan(1_200);
  });
});
