import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../../src/core/model/service.ts';
import type { ServiceRef } from '../../../../src/core/model/service-ref.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { endpointShards, serviceAccounts } from '../../../../src/core/registry/endpoints.ts';
import type { State } from '../../../../src/core/state.ts';
import { ask, inCluster, put, world } from '../../world.ts';
import { namespace, node, pod, service, serviceEntry, slice, workloadEntry } from './fixtures.ts';

const WEB = { hostname: 'web.default.svc.cluster.local', namespace: 'default' };

function endpoints(state: State, arg: ServiceRef = WEB): readonly Endpoint[] {
  return ask(state, endpointShards, arg).flatMap(shard => shard.endpoints);
}

describe('endpoints of EndpointSlices', () => {
  test('carry attributes of their pod, node and cluster', () => {
    const state = world([
      service('web'),
      node('n1', 'r1', 'z1'),
      pod('web-1', '10.0.0.1', {
        node: 'n1',
        account: 'web',
        labels: { app: 'web', 'security.istio.io/tlsMode': 'istio' },
      }),
      slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }]),
    ]);
    expect(endpoints(state)).toEqual([
      expect.objectContaining({
        addresses: ['10.0.0.1'],
        port: 8080,
        portName: 'http',
        locality: 'r1/z1/',
        serviceAccount: 'spiffe://cluster.local/ns/default/sa/web',
        tlsMode: 'istio',
        workloadName: 'web-1',
        health: 'Healthy',
        labels: expect.objectContaining({ 'topology.istio.io/cluster': 'Kubernetes', 'kubernetes.io/hostname': 'n1' }),
      }),
    ]);
  });

  test('wait for the pod that they name', () => {
    const before = world([service('web'), slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }])]);
    expect(endpoints(before)).toEqual([]);
    expect(endpoints(put(before, pod('web-1', '10.0.0.1')).state)).toHaveLength(1);
  });

  test('are one endpoint for the same address and port name in two slices', () => {
    const state = world([
      service('web'),
      slice('web', [{ ip: '10.0.0.1' }], { name: 's1' }),
      slice('web', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], { name: 's2' }),
    ]);
    expect(endpoints(state).map(endpoint => endpoint.addresses[0])).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  test.each([
    [{}, {}, 'Healthy'],
    [{ ready: false, serving: true, terminating: true }, {}, 'Terminating'],
    [{ ready: false, terminating: false }, {}, 'UnHealthy'],
    [{ ready: false }, { 'istio.io/persistent-session': 'cookie' }, 'Draining'],
  ])('with conditions %o and labels %o are %s', (conditions, labels, expected) => {
    const state = world([service('web', {}, { labels }), slice('web', [{ ip: '10.0.0.1', ...conditions }])]);
    expect(endpoints(state)[0]?.health).toBe(expected);
  });

  test('come from Endpoints objects while a service has no slice', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'web', namespace: 'default' },
      subsets: [{ addresses: [{ ip: '10.0.0.7' }], ports: [{ name: 'http', port: 9090 }] }],
    };
    const alone = world([service('web'), object]);
    expect(endpoints(alone).map(e => `${e.addresses[0]}:${e.port}`)).toEqual(['10.0.0.7:9090']);
    const both = put(alone, slice('web', [{ ip: '10.0.0.1' }])).state;
    expect(endpoints(both).map(e => `${e.addresses[0]}:${e.port}`)).toEqual(['10.0.0.1:8080']);
  });

  test('are sharded by cluster, each with the network of its cluster', () => {
    const label = { 'topology.istio.io/network': 'n2' };
    const state = world(
      [
        inCluster(
          'remote',
          namespace('istio-system', { labels: label }),
          service('web'),
          slice('web', [{ ip: '10.1.0.1' }]),
        ),
        service('web'),
        slice('web', [{ ip: '10.0.0.1' }]),
      ],
      { networks: { networks: { n1: { endpoints: [{ fromCidr: '10.0.0.0/16' }] } } } },
    );
    const shards = ask(state, endpointShards, WEB);
    expect(shards.map(shard => [shard.cluster, shard.endpoints[0]?.network])).toEqual([
      ['Kubernetes', 'n1'],
      ['remote', 'n2'],
    ]);
  });
});

describe('the network of an endpoint', () => {
  const networkOf = (ranges: Readonly<Record<string, string>>): string | undefined => {
    const networks = Object.fromEntries(
      Object.entries(ranges).map(([name, fromCidr]) => [name, { endpoints: [{ fromCidr }] }]),
    );
    const state = world([service('web'), slice('web', [{ ip: '10.0.0.1' }])], { networks: { networks } });
    return endpoints(state)[0]?.network;
  };
  test('is that of the widest range that has the address', () => {
    expect(networkOf({ a: '10.0.0.0/24', b: '10.0.0.0/8', c: '10.0.0.0/16' })).toBe('b');
    expect(networkOf({ a: '10.0.0.0/8', b: '10.0.0.0/16' })).toBe('a');
    expect(networkOf({ a: '10.0.0.1/32', b: '10.1.0.0/16' })).toBe('a');
  });
});

describe('the workload of a pod', () => {
  const owned = (kind: string, owner: string, labels: Record<string, string> = {}) => {
    const plain = pod('web-1', '10.0.0.1', { labels });
    const ownerReferences = [{ apiVersion: 'apps/v1', kind, name: owner, controller: true }];
    return { ...plain, metadata: { ...(plain.metadata as object), generateName: `${owner}-`, ownerReferences } };
  };
  test.each([
    [owned('ReplicaSet', 'web-5d4f8', { 'pod-template-hash': '5d4f8' }), 'web'],
    [owned('ReplicaSet', 'web-other', { 'pod-template-hash': '5d4f8' }), 'web-other'],
    [owned('Job', 'nightly-28000000'), 'nightly'],
    [owned('StatefulSet', 'db'), 'db'],
    [pod('web-1', '10.0.0.1'), 'web-1'],
  ])('is derived from its owner, case %#: %s', (object, expected) => {
    const state = world([service('web'), object as never, slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }])]);
    expect(endpoints(state)[0]?.workloadName).toBe(expected);
  });
});

describe('endpoints of WorkloadEntries', () => {
  const vm = workloadEntry('vm', { address: '192.168.0.1', labels: { app: 'web' }, serviceAccount: 'vm', weight: 3 });

  test('join the slices of a Kubernetes service that selects them', () => {
    const state = world([service('web'), vm, slice('web', [{ ip: '10.0.0.1' }])]);
    expect(endpoints(state).map(e => [e.addresses[0], e.port, e.tlsMode, e.weight])).toEqual([
      ['10.0.0.1', 8080, 'disabled', 1],
      ['192.168.0.1', 8080, 'istio', 3],
    ]);
  });

  test('leave out an entry whose health check has not passed', () => {
    const checked = workloadEntry(
      'vm',
      { address: '192.168.0.1', labels: { app: 'web' } },
      {
        annotations: { 'proxy.istio.io/health-checks-enabled': 'true' },
      },
    );
    expect(endpoints(world([service('web'), checked]))).toEqual([]);
    const healthy = { ...checked, status: { conditions: [{ type: 'Healthy', status: 'True' }] } };
    expect(endpoints(world([service('web'), healthy]))).toHaveLength(1);
  });
});

describe('endpoints of ServiceEntries', () => {
  const EXT = { hostname: 'ext.example.com', namespace: 'default' };

  test('take their port by name, else the target port, else the number', () => {
    const spec = {
      hosts: ['ext.example.com'],
      ports: [
        { number: 80, name: 'http', protocol: 'HTTP' },
        { number: 81, name: 'tcp', protocol: 'TCP', targetPort: 8181 },
      ],
      endpoints: [{ address: '1.1.1.1', ports: { http: 8080 } }, { address: '2.2.2.2' }],
    };
    expect(endpoints(world([serviceEntry('ext', spec)]), EXT).map(e => `${e.addresses[0]}:${e.port}`)).toEqual([
      '1.1.1.1:8080',
      '2.2.2.2:80',
      '1.1.1.1:8181',
      '2.2.2.2:8181',
    ]);
  });

  test('an endpoint serves at its own port of that name, else at the target port, else at the port of the service', () => {
    const spec = {
      hosts: ['ext.example.com'],
      ports: [
        { number: 80, name: 'http', protocol: 'HTTP', targetPort: 8080 },
        { number: 90, name: 'admin', protocol: 'HTTP' },
      ],
      endpoints: [{ address: '1.1.1.1', ports: { http: 9090 } }, { address: '2.2.2.2' }],
    };
    expect(endpoints(world([serviceEntry('ext', spec)]), EXT).map(e => `${e.addresses[0]}:${e.port}`)).toEqual([
      '1.1.1.1:9090',
      '2.2.2.2:8080',
      '1.1.1.1:90',
      '2.2.2.2:90',
    ]);
  });

  test('are the entry itself for DNS without endpoints, and absent for a static entry', () => {
    const dns = world([serviceEntry('ext', { hosts: ['ext.example.com'], resolution: 'DNS' })]);
    expect(endpoints(dns, EXT).map(e => e.addresses[0])).toEqual(['ext.example.com']);
    expect(endpoints(world([serviceEntry('ext', { hosts: ['ext.example.com'] })]), EXT)).toEqual([]);
  });

  test('list selected ready pods by name, then WorkloadEntries by name', () => {
    const labels = { app: 'ext' };
    const state = world([
      serviceEntry('ext', { hosts: ['ext.example.com'], workloadSelector: { labels } }),
      workloadEntry('a-vm', { address: '3.3.3.3', labels }),
      pod('p2', '10.0.0.2', { labels }),
      pod('p1', '10.0.0.1', { labels }),
      pod('p3', '10.0.0.3', { labels, ready: false }),
    ]);
    expect(endpoints(state, EXT).map(e => e.addresses[0])).toEqual(['10.0.0.1', '10.0.0.2', '3.3.3.3']);
  });

  test('list pods that are selected by the topology of their node and cluster', () => {
    const inZone = (selector: Readonly<Record<string, string>>) => {
      const labels = { app: 'ext', ...selector };
      const entry = serviceEntry('ext', { hosts: ['ext.example.com'], workloadSelector: { labels } });
      const pods = ['a', 'b'].map((name, i) => pod(name, `10.0.0.${i}`, { labels: { app: 'ext' }, node: `n-${name}` }));
      return [entry, ...pods, node('n-a', 'r', 'z-a'), node('n-b', 'r', 'z-b')];
    };
    const found = (selector: Readonly<Record<string, string>>) =>
      endpoints(world(inZone(selector)), EXT).map(e => e.addresses[0]);
    expect(found({ 'topology.kubernetes.io/zone': 'z-b' })).toEqual(['10.0.0.1']);
    expect(found({ 'topology.istio.io/cluster': 'Kubernetes' })).toEqual(['10.0.0.0', '10.0.0.1']);
    expect(found({ 'topology.istio.io/cluster': 'other' })).toEqual([]);
  });

  test('merge two entries of one host, the older first; round robin keeps one endpoint for each port', () => {
    const entry = (name: string, address: string, day: number, resolution: string) =>
      serviceEntry(name, { hosts: ['ext.example.com'], resolution, endpoints: [{ address }] }, { day });
    const both = world([entry('a', '1.1.1.1', 2, 'STATIC'), entry('b', '2.2.2.2', 1, 'STATIC')]);
    expect(endpoints(both, EXT).map(e => e.addresses[0])).toEqual(['2.2.2.2', '1.1.1.1']);
    const robin = world([
      entry('a', 'one.example.com', 2, 'DNS_ROUND_ROBIN'),
      entry('b', 'two.example.com', 1, 'DNS_ROUND_ROBIN'),
    ]);
    expect(endpoints(robin, EXT).map(e => e.addresses[0])).toEqual(['two.example.com']);
  });
});

test('service accounts are those of endpoints and service, under every alias of the trust domain', () => {
  const state = world(
    [
      service('web', {}, { annotations: { 'alpha.istio.io/kubernetes-serviceaccounts': 'extra' } }),
      pod('web-1', '10.0.0.1', { account: 'web' }),
      slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }]),
    ],
    { mesh: { trustDomain: 'td', trustDomainAliases: ['old'] } },
  );
  expect(ask(state, serviceAccounts, WEB)).toEqual([
    'spiffe://old/ns/default/sa/extra',
    'spiffe://old/ns/default/sa/web',
    'spiffe://td/ns/default/sa/extra',
    'spiffe://td/ns/default/sa/web',
  ]);
});

test('identities of a remote cluster are of the trust domain that its own mesh configuration names', () => {
  const of = (data: Record<string, string> | undefined): readonly string[] => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'istio', namespace: 'istio-system' }, data };
    const parts = [
      service('web'),
      pod('web-1', '10.0.0.1', { account: 'web' }),
      slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }]),
    ];
    const remote = inCluster('remote', ...parts, ...(data === undefined ? [] : [map]));
    return ask(world([remote], { mesh: { trustDomain: 'td' } }), serviceAccounts, WEB);
  };
  expect(of({ mesh: 'trustDomain: far' })).toEqual(['spiffe://far/ns/default/sa/web']);
  expect(of(undefined)).toEqual(['spiffe://td/ns/default/sa/web']);
  for (const mesh of ['', 'enableTracing: true', 'a: [']) {
    expect(of({ mesh })).toEqual(['spiffe://td/ns/default/sa/web']);
  }
});

test('a changed pod leaves the other endpoints of its slice identical', () => {
  const tracker = new Tracker();
  const before = world([
    service('web'),
    pod('web-1', '10.0.0.1'),
    pod('web-2', '10.0.0.2'),
    slice('web', [
      { ip: '10.0.0.1', pod: 'web-1' },
      { ip: '10.0.0.2', pod: 'web-2' },
    ]),
  ]);
  const old = tracker.get(before, undefined, endpointShards, WEB)[0]?.endpoints ?? [];
  const after = put(before, pod('web-1', '10.0.0.1', { labels: { version: 'v2' } })).state;
  const now = tracker.get(after, undefined, endpointShards, WEB)[0]?.endpoints ?? [];
  expect(now.map((endpoint, i) => endpoint === old[i])).toEqual([false, true]);
});
