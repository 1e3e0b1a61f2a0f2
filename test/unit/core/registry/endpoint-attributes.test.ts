// Every attribute of an endpoint, by where it is from: generation reads all of them.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Endpoint } from '../../../../src/core/model/service.ts';
import type { ServiceRef } from '../../../../src/core/model/service-ref.ts';
import { endpointShards } from '../../../../src/core/registry/endpoints.ts';
import { ask, inCluster, type WorldOptions, type WorldPart, world } from '../../world.ts';
import { node, pod, service, serviceEntry, slice, workloadEntry } from './fixtures.ts';

const WEB: ServiceRef = { hostname: 'web.default.svc.cluster.local', namespace: 'default' };
const EXT: ServiceRef = { hostname: 'ext.example.com', namespace: 'default' };
const hosts = [EXT.hostname];
const labels = { app: 'web' };

const endpoints = (ref: ServiceRef, parts: readonly WorldPart[], options?: WorldOptions): readonly Endpoint[] =>
  ask(world(parts, options), endpointShards, ref).flatMap(shard => shard.endpoints);
const at = (found: readonly Endpoint[]): readonly string[] =>
  found.map(({ addresses, port, portName }) => `${addresses.join()}:${port} ${portName}`);
/** A pod with more of a spec, a status or metadata. */
const podWith = (object: JsonObject, more: Readonly<Record<string, JsonObject>>): JsonObject => ({
  ...object,
  ...Object.fromEntries(Object.entries(more).map(([part, added]) => [part, { ...(object[part] as object), ...added }])),
});

const NONE = {
  port: 8080,
  portName: 'http',
  servicePort: 0,
  serviceAccount: '',
  locality: '',
  network: '',
  cluster: 'Kubernetes',
  namespace: '',
  workloadName: '',
  nodeName: '',
  hostname: '',
  subdomain: '',
  weight: 1,
  tlsMode: 'disabled',
};
const CLUSTER = { 'topology.istio.io/cluster': 'Kubernetes' };

describe('an endpoint', () => {
  test('at an address of no pod has its cluster alone', () => {
    expect(endpoints(WEB, [service('web'), slice('web', [{ ip: '10.0.0.1' }])])).toEqual([
      { ...NONE, addresses: ['10.0.0.1'], labels: CLUSTER, health: 'Healthy' },
    ]);
  });

  test('of a pod has its workload, and a name where the pod has a subdomain', () => {
    const plain = pod('web-1', '10.0.0.1', { labels, account: 'web', node: 'n1' });
    const parts = (of: JsonObject) => [service('web'), of, slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }])];
    const expected = {
      ...NONE,
      addresses: ['10.0.0.1'],
      labels: { ...labels, ...CLUSTER, 'kubernetes.io/hostname': 'n1' },
      serviceAccount: 'spiffe://cluster.local/ns/default/sa/web',
      namespace: 'default',
      workloadName: 'web-1',
      nodeName: 'n1',
      health: 'Healthy',
    };
    expect(endpoints(WEB, parts(plain))).toEqual([expected]);
    expect(endpoints(WEB, parts(podWith(plain, { spec: { hostname: 'h' } })))).toEqual([expected]);
    expect(endpoints(WEB, parts(podWith(plain, { spec: { subdomain: 's' } })))).toEqual([
      { ...expected, hostname: 'web-1', subdomain: 's' },
    ]);
    expect(endpoints(WEB, parts(podWith(plain, { spec: { hostname: 'h', subdomain: 's' } })))).toEqual([
      { ...expected, hostname: 'h', subdomain: 's' },
    ]);
  });

  test('of a machine has what its WorkloadEntry says', () => {
    const bare = workloadEntry('vm', { address: '192.168.0.1', labels });
    const expected = {
      ...NONE,
      addresses: ['192.168.0.1'],
      labels: { ...labels, ...CLUSTER },
      namespace: 'default',
      workloadName: 'vm',
      health: 'Unset',
    };
    expect(endpoints(WEB, [service('web'), bare])).toEqual([expected]);
    const spec = { address: '192.168.0.1', labels, serviceAccount: 'vm', locality: 'r/z', network: 'n2', weight: 3 };
    expect(endpoints(WEB, [service('web'), workloadEntry('vm', spec)])).toEqual([
      {
        ...expected,
        labels: {
          ...expected.labels,
          'topology.kubernetes.io/region': 'r',
          'topology.kubernetes.io/zone': 'z',
          'topology.istio.io/network': 'n2',
        },
        serviceAccount: 'spiffe://cluster.local/ns/default/sa/vm',
        locality: 'r/z',
        network: 'n2',
        weight: 3,
        tlsMode: 'istio',
      },
    ]);
  });

  test('of a host that proxies resolve has the name of its ServiceEntry alone, for each host', () => {
    const spec = { hosts: ['ext.example.com', 'other.example.com'] };
    for (const resolution of ['DNS', 'DNS_ROUND_ROBIN']) {
      for (const hostname of spec.hosts) {
        const found = endpoints({ ...EXT, hostname }, [serviceEntry('ext', { ...spec, resolution })]);
        const own = { addresses: [hostname], port: 80, servicePort: 80, namespace: 'default', workloadName: 'ext' };
        expect(found).toEqual([{ ...NONE, ...own, labels: {}, health: 'Unset' }]);
      }
    }
  });

  test('at a path has no port', () => {
    const spec = { endpoints: [{ address: 'unix:///run/x.sock' }], hosts };
    expect(at(endpoints(EXT, [serviceEntry('ext', spec)]))).toEqual(['unix:///run/x.sock:0 http']);
  });
});

describe('a pod', () => {
  const parts = (of: JsonObject) => [service('web'), of, slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }])];
  const plain = pod('web-1', '10.0.0.1', { labels });

  test('that has failed is no endpoint, one that has succeeded still is while its slice names it', () => {
    const health = (phase: string) => endpoints(WEB, parts(podWith(plain, { status: { phase } }))).length;
    expect([health('Failed'), health('Succeeded'), health('Pending')]).toEqual([0, 1, 1]);
  });

  const owned = (kind: string, name: string, meta: JsonObject = {}): JsonObject => {
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'Node', name: 'no-owner', controller: false },
      { apiVersion: 'apps/v1', kind, name, controller: true },
    ];
    return podWith(plain, { metadata: { generateName: `${name}-`, ownerReferences, ...meta } });
  };
  test.each<[string, JsonObject, string]>([
    ['its label', owned('StatefulSet', 'db', { labels: { 'service.istio.io/workload-name': 'said' } }), 'said'],
    ['itself without a generated name', owned('StatefulSet', 'db', { generateName: '' }), 'web-1'],
    ['itself without an owner', owned('StatefulSet', 'db', { ownerReferences: [] }), 'web-1'],
    ['the ReplicaSet without a hash', owned('ReplicaSet', 'web-5d4f8'), 'web-5d4f8'],
    [
      'the ReplicaSet whose name ends like the hash, not after a hyphen',
      owned('ReplicaSet', 'web5d4f8', { labels: { 'pod-template-hash': '5d4f8' } }),
      'web5d4f8',
    ],
    ['the Rollout', owned('ReplicaSet', 'web-77c', { labels: { 'rollouts-pod-template-hash': '77c' } }), 'web'],
    ['the DeploymentConfig', owned('ReplicationController', 'dc-1', { labels: { deploymentconfig: 'dc' } }), 'dc'],
    ['the ReplicationController', owned('ReplicationController', 'rc-1'), 'rc-1'],
    ['another owner, whatever the label', owned('StatefulSet', 'db-1', { labels: { deploymentconfig: 'dc' } }), 'db-1'],
    ['the Job that no CronJob made', owned('Job', 'once'), 'once'],
    ['the Job with a short number', owned('Job', 'nightly-1234567'), 'nightly-1234567'],
    ['the Job with a number in between', owned('Job', 'run-12345678-x'), 'run-12345678-x'],
    ['another owner with a number', owned('StatefulSet', 'db-12345678'), 'db-12345678'],
  ])('has as workload the name of %s', (_what, object, name) => {
    expect(endpoints(WEB, parts(object))[0]?.workloadName).toBe(name);
  });

  test('is found by an address without its name in its namespace alone, and if it runs', () => {
    const bare = slice('web', [{ ip: '10.0.0.1' }]);
    const name = (...pods: readonly JsonObject[]) => endpoints(WEB, [service('web'), ...pods, bare])[0]?.workloadName;
    const elsewhere = pod('far', '10.0.0.1', { namespace: 'aaa' });
    expect([name(plain), name(elsewhere), name(elsewhere, plain)]).toEqual(['web-1', '', 'web-1']);
    const ended = (more: Readonly<Record<string, JsonObject>>) => name(podWith(plain, more));
    expect(ended({ status: { phase: 'Succeeded' } })).toBe('');
    expect(ended({ status: { phase: 'Failed' } })).toBe('');
    expect(ended({ metadata: { deletionTimestamp: '2026-01-02T00:00:00Z' } })).toBe('');
    expect(ended({ status: { conditions: [] } })).toBe('');
  });

  test('of another namespace is the one that the slice names there', () => {
    const ref = { kind: 'Pod', name: 'web-1', namespace: 'shop' };
    const naming = (targetRef: JsonObject): JsonObject => ({
      ...slice('web', []),
      endpoints: [{ addresses: ['10.0.0.1'], conditions: {}, targetRef }],
    });
    const found = (targetRef: JsonObject) =>
      endpoints(WEB, [service('web'), plain, pod('web-1', '10.0.0.1', { namespace: 'shop' }), naming(targetRef)])[0];
    expect(found(ref)?.namespace).toBe('shop');
    expect(found({ kind: 'Pod', name: 'web-1' })?.namespace).toBe('default');
    expect(found({ kind: 'Node', name: 'n' })?.workloadName).toBe('web-1');
  });
});

describe('a pod that a ServiceEntry selects', () => {
  const ports = [{ number: 80, name: 'web', protocol: 'TCP' }];
  const selecting = serviceEntry('ext', { hosts, ports, workloadSelector: { labels } });
  const both = { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] };
  const dual = podWith(pod('p', '10.0.0.1', { labels }), { status: both });

  test('counts as healthy, at its first address, at all of them with both families', () => {
    const found = (flag: string) =>
      endpoints(EXT, [selecting, dual], { settings: { env: { ISTIO_DUAL_STACK: flag } } });
    expect(found('false')).toMatchObject([{ addresses: ['10.0.0.1'], health: 'Healthy', weight: 1 }]);
    expect(found('true')).toMatchObject([{ addresses: ['10.0.0.1', 'fd00::1'] }]);
  });

  test('serves at its TCP port of that name, else at the port of the ServiceEntry', () => {
    const named = (...containerPorts: readonly JsonObject[]) =>
      at(endpoints(EXT, [selecting, podWith(dual, { spec: { containers: [{ name: 'c', ports: containerPorts }] } })]));
    expect(named({ name: 'other', containerPort: 1 }, { name: 'web', containerPort: 2 })).toEqual(['10.0.0.1:2 web']);
    expect(named({ name: 'web', containerPort: 1, protocol: 'UDP' }, { name: 'web', containerPort: 2 })).toEqual([
      '10.0.0.1:2 web',
    ]);
    expect(named({ name: 'other', containerPort: 1 })).toEqual(['10.0.0.1:80 web']);
  });

  test('comes in the order of its name, then of its cluster', () => {
    const p = (name: string, ip: string) => pod(name, ip, { labels });
    const parts = [selecting, p('b', '10.0.0.1'), inCluster('east', p('a', '10.2.0.1'), p('b', '10.2.0.2'))];
    expect(at(endpoints(EXT, [...parts, p('a', '10.0.0.2')]))).toEqual([
      '10.0.0.2:8080 web',
      '10.2.0.1:8080 web',
      '10.0.0.1:8080 web',
      '10.2.0.2:8080 web',
    ]);
  });

  test('is none where ServiceEntries select machines alone', () => {
    const machine = workloadEntry('vm', { address: '192.168.0.1', labels });
    const env = { PILOT_ENABLE_SERVICEENTRY_SELECT_PODS: 'false' };
    expect(at(endpoints(EXT, [selecting, dual, machine], { settings: { env } }))).toEqual(['192.168.0.1:80 web']);
  });

  test('has the locality of its node, and none of a node that is not known', () => {
    const located = pod('p', '10.0.0.1', { labels, node: 'n1' });
    expect(endpoints(EXT, [selecting, located])[0]?.locality).toBe('');
    expect(endpoints(EXT, [selecting, located, node('n1', 'r', 'z')])[0]?.locality).toBe('r/z/');
  });
});

describe('several ServiceEntries of one host', () => {
  const ports = (...numbers: readonly number[]) =>
    numbers.map(number => ({ number, name: `p-${number}`, protocol: 'TCP' }));

  test('resolve one name for each number of port, by the oldest that has it', () => {
    const entry = (name: string, day: number, ...numbers: readonly number[]) =>
      serviceEntry(
        name,
        { hosts, resolution: 'DNS_ROUND_ROBIN', ports: ports(...numbers), endpoints: [{ address: `${name}.example` }] },
        { day },
      );
    expect(at(endpoints(EXT, [entry('a', 2, 80, 90), entry('b', 1, 80)]))).toEqual([
      'b.example:80 p-80',
      'a.example:90 p-90',
    ]);
    const renamed = serviceEntry('c', {
      hosts,
      resolution: 'DNS_ROUND_ROBIN',
      ports: [{ number: 80, name: 'other', protocol: 'TCP' }],
      endpoints: [{ address: 'c.example' }],
    });
    expect(at(endpoints(EXT, [entry('d', 2, 80), renamed]))).toEqual(['c.example:80 other']);
  });

  test('of another namespace have endpoints of their own', () => {
    const entry = (name: string, namespace: string, address: string) =>
      serviceEntry(name, { hosts, endpoints: [{ address }] }, { namespace });
    const parts = [entry('a', 'default', '1.1.1.1'), entry('b', 'shop', '2.2.2.2')];
    expect(at(endpoints(EXT, parts))).toEqual(['1.1.1.1:80 http']);
    expect(at(endpoints({ ...EXT, namespace: 'shop' }, parts))).toEqual(['2.2.2.2:80 http']);
  });

  test('repeat their endpoints for each of their addresses, except a name that is resolved as one', () => {
    const addresses = ['240.0.0.1', '240.0.0.2'];
    const found = (resolution: string, address: string) =>
      at(
        endpoints(EXT, [
          serviceEntry('ext', { hosts: [...hosts, 'b.com'], addresses, resolution, endpoints: [{ address }] }),
        ]),
      );
    expect(found('STATIC', '1.1.1.1')).toEqual(['1.1.1.1:80 http', '1.1.1.1:80 http']);
    expect(found('DNS_ROUND_ROBIN', 'a.example')).toEqual(['a.example:80 http']);
  });
});
