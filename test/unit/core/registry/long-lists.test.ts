// Lists that small objects multiply to: longer than a call may have arguments, shared by those that have equal ones,
// searched by index.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { ENDPOINTS_OF_OBJECT_MAX } from '../../../../src/core/kinds/validate/endpoint-count.ts';
import type { Endpoint } from '../../../../src/core/model/service.ts';
import type { ServiceRef } from '../../../../src/core/model/service-ref.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { endpointIndexOf } from '../../../../src/core/registry/endpoint-index.ts';
import { endpointShards } from '../../../../src/core/registry/endpoints.ts';
import { ask, world } from '../../world.ts';
import { metadata, pod, service, serviceEntry, workloadEntry } from './fixtures.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const address = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;

describe('a ServiceEntry', () => {
  test('of 100 ports and 1,000 endpoints has 100,000', () => {
    const ports = numbers(100).map(i => ({ number: i + 1, name: `p${i}`, protocol: 'TCP' }));
    const endpoints = numbers(1_000).map(i => ({ address: address(i) }));
    const state = world([serviceEntry('ext', { hosts: ['a.com'], ports, endpoints, resolution: 'STATIC' })]);
    const [shard] = ask(state, endpointShards, { hostname: 'a.com', namespace: 'default' });
    expect(shard?.endpoints).toHaveLength(ENDPOINTS_OF_OBJECT_MAX);
  });
});

describe.each(['a slice', 'an Endpoints object'])('%s of many ports', what => {
  const ref: ServiceRef = { hostname: 'web.default.svc.cluster.local', namespace: 'default' };
  const sliced = (ports: number, endpoints: number): readonly JsonObject[] => {
    const listed = numbers(ports).map(i => ({ name: `p${i}`, port: i + 1 }));
    const own = {
      addressType: 'IPv4',
      ports: listed,
      endpoints: numbers(endpoints).map(i => ({ addresses: [address(i)] })),
    };
    const labels = { 'kubernetes.io/service-name': 'web' };
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: metadata('web-1', { labels }),
      ...own,
    };
    const subsets = [{ addresses: numbers(endpoints).map(i => ({ ip: address(i) })), ports: listed }];
    const object = { apiVersion: 'v1', kind: 'Endpoints', metadata: metadata('web'), subsets };
    return [service('web', { ports: listed }), what === 'a slice' ? slice : object];
  };

  test('has its endpoints made in blocks, in order and each once', () => {
    const tracker = new Tracker();
    const [shard] = tracker.get(world(sliced(100, 100)), undefined, endpointShards, ref);
    const expected = numbers(100).flatMap(i => numbers(100).map(port => `${address(i)} p${port}`));
    expect(shard!.endpoints.map(({ addresses, portName }) => `${addresses[0]} ${portName}`)).toEqual(expected);
  });

  test('reuses the blocks that interrupted work has made', () => {
    const state = world(sliced(100, 100));
    const tracker = new Tracker();
    const slices = [];
    for (let isDone = false; !isDone && slices.length < 100; ) {
      const { value, finished } = tracker.within(300, () => tracker.get(state, undefined, endpointShards, ref));
      isDone = value !== undefined;
      slices.push(finished);
    }
    // Of 10,000 endpoints 300 each, and little of each slice is for what those before it have made.
    expect(slices.length).toBeLessThan(50);
  });
});

describe('WorkloadEntries that a Service selects', () => {
  const labels = { app: 'web' };
  const selecting = service('web', { selector: labels, ports: [{ name: 'tcp', port: 80 }] });
  const entries = numbers(512).map(i => workloadEntry(`e${1_000 + i}`, { address: address(i), labels }, { labels }));

  test('have their endpoints made in blocks, in order', () => {
    const made = (count: number) => {
      const tracker = new Tracker();
      const state = world([selecting, ...entries.slice(0, count)]);
      const [shard] = tracker.get(state, undefined, endpointShards, {
        hostname: 'web.default.svc.cluster.local',
        namespace: 'default',
      });
      expect(shard!.endpoints.map(({ addresses }) => addresses[0])).toEqual(numbers(count).map(address));
      return tracker.stats.runs;
    };
    const [few, more] = [made(256), made(512)];
    expect((more - few) % 256).toBe(512 / 64);
  });
});

describe('endpoints that several services have', () => {
  const labels = { app: 'web' };
  const pods = (count: number): readonly JsonObject[] => numbers(count).map(i => pod(`p${i}`, address(i), { labels }));
  const entry = (name: string, hosts: readonly string[], more: JsonObject = {}): JsonObject =>
    serviceEntry(name, { hosts, resolution: 'STATIC', workloadSelector: { labels }, ...more });
  const ref = (hostname: string): ServiceRef => ({ hostname, namespace: 'default' });

  test('are one list for all hosts of a ServiceEntry and all with its selector and ports', () => {
    const state = world([entry('one', ['a.com', 'b.com']), entry('two', ['c.com']), ...pods(3)]);
    const tracker = new Tracker();
    const lists = ['a.com', 'b.com', 'c.com'].map(
      host => tracker.get(state, undefined, endpointShards, ref(host))[0]?.endpoints,
    );
    expect(lists[0]).toHaveLength(3);
    expect(new Set(lists).size).toBe(1);
  });

  test('are others where the ports or what resolves names differ', () => {
    const ports = [{ number: 81, name: 'http', protocol: 'HTTP' }];
    const state = world([entry('one', ['a.com']), entry('two', ['b.com'], { ports }), ...pods(1)]);
    const portOf = (host: string): unknown => ask(state, endpointShards, ref(host))[0]?.endpoints[0]?.servicePort;
    expect([portOf('a.com'), portOf('b.com')]).toEqual([80, 81]);
  });

  test('cost a ratio of two for twice as many pods and ServiceEntries, not of four', () => {
    const costOf = (count: number): number => {
      const entries = numbers(count).map(i => entry(`e${i}`, [`h${i}.com`]));
      const state = world([...entries, ...pods(count)]);
      const tracker = new Tracker();
      for (const i of numbers(count)) tracker.get(state, undefined, endpointShards, ref(`h${i}.com`));
      const { runs, hits, generated } = tracker.stats;
      return runs + hits + generated;
    };
    expect(costOf(100) / costOf(50)).toBeLessThan(2.2);
  });
});

describe('the endpoints of a port', () => {
  const endpoint = (i: number, servicePort: number, portName: string): Endpoint =>
    ({ addresses: [address(i)], servicePort, portName, serviceAccount: '' }) as unknown as Endpoint;
  const all = [
    endpoint(0, 80, 'a'),
    endpoint(1, 0, 'b'),
    endpoint(2, 81, 'b'),
    endpoint(3, 80, 'b'),
    endpoint(0, 0, 'a'),
  ];
  const index = endpointIndexOf(all);
  const at = (found: readonly Endpoint[]): readonly number[] => found.map(one => all.indexOf(one));

  test.each([
    [80, ['a'], [0, 3, 4]],
    [80, ['b'], [0, 1, 3]],
    [80, [], [0, 3]],
    [82, ['b'], [1]],
    [82, ['c'], []],
    [0, ['a', 'b'], [1, 4]],
  ] as const)('%i with the names %j are those of its number, or of a name without a number, in order', (...given) => {
    const [port, names, expected] = given;
    expect(at(index.ofPort(port, names))).toEqual(expected);
  });

  test('at addresses are found in order', () => {
    expect(at(index.at(address(0)))).toEqual([0, 4]);
    expect(at(index.atAny([address(3), address(0), '9.9.9.9']))).toEqual([0, 3, 4]);
    expect(at(index.atAny([]))).toEqual([]);
  });
});
