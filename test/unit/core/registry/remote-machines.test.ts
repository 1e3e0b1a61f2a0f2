// Machines of remote clusters, machines that are probed, and which Services and ServiceEntries select any.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Endpoint } from '../../../../src/core/model/service.ts';
import type { ServiceRef } from '../../../../src/core/model/service-ref.ts';
import { endpointShards } from '../../../../src/core/registry/endpoints.ts';
import { kubernetesEndpoints } from '../../../../src/core/registry/kubernetes-endpoints.ts';
import { ask, inCluster, type WorldOptions, type WorldPart, world } from '../../world.ts';
import { type Meta, namespace, service, serviceEntry, slice, workloadEntry } from './fixtures.ts';

const WEB: ServiceRef = { hostname: 'web.default.svc.cluster.local', namespace: 'default' };
const EXT: ServiceRef = { hostname: 'ext.example.com', namespace: 'default' };
const labels = { app: 'web' };
const selecting = serviceEntry('ext', { hosts: [EXT.hostname], workloadSelector: { labels } });
const far = (name: string, spec: JsonObject, meta: Meta = {}): JsonObject => ({
  ...workloadEntry(name, { labels, ...spec }, meta),
  apiVersion: 'periplus.internal/v1',
  kind: 'RemoteWorkloadEntry',
});
const flags = (env: Readonly<Record<string, string>>): WorldOptions => ({ settings: { env } });

const endpoints = (parts: readonly WorldPart[], ref = WEB, options?: WorldOptions): readonly Endpoint[] =>
  ask(world(parts, options), endpointShards, ref).flatMap(shard => shard.endpoints);
const at = (parts: readonly WorldPart[], ref = WEB, options?: WorldOptions): readonly string[] =>
  endpoints(parts, ref, options).map(({ addresses, cluster }) => `${cluster} ${addresses[0]}`);

describe('a machine of a remote cluster', () => {
  test('has the cluster of its registry, and the network of that in its labels alone', () => {
    const system = namespace('istio-system', { labels: { 'topology.istio.io/network': 'far-net' } });
    const spec = { address: '10.2.0.1', locality: 'r/z/s', labels };
    const found = (more: JsonObject) =>
      endpoints([selecting, inCluster('east', system, far('vm', { ...spec, ...more }))], EXT);
    expect(found({})).toMatchObject([
      {
        cluster: 'east',
        network: '',
        locality: 'r/z/s',
        labels: {
          app: 'web',
          'topology.istio.io/cluster': 'east',
          'topology.istio.io/network': 'far-net',
          'topology.kubernetes.io/region': 'r',
          'topology.kubernetes.io/zone': 'z',
          'topology.istio.io/subzone': 's',
        },
      },
    ]);
    expect(found({})[0]?.labels).not.toHaveProperty(['kubernetes.io/hostname']);
    expect(found({ network: 'own' })).toMatchObject([
      { network: 'own', labels: { 'topology.istio.io/network': 'own' } },
    ]);
    const ranged = { networks: { networks: { ranged: { endpoints: [{ fromCidr: '10.2.0.0/16' }] } } } };
    const [one] = endpoints([selecting, inCluster('east', far('vm', spec))], EXT, ranged);
    expect([one?.network, one?.labels['topology.istio.io/network']]).toEqual(['', 'ranged']);
  });

  test('is selected by ServiceEntries, and by Services of its own cluster', () => {
    const parts = [
      selecting,
      service('web'),
      workloadEntry('vm', { address: '10.1.0.1', labels }),
      inCluster('east', service('web'), far('vm', { address: '10.2.0.1' })),
      inCluster('west', service('web'), far('b', { address: '10.3.0.1' }), far('a', { address: '10.3.0.2' })),
    ];
    expect(at(parts)).toEqual(['Kubernetes 10.1.0.1', 'east 10.2.0.1', 'west 10.3.0.2', 'west 10.3.0.1']);
    expect(at(parts, EXT)).toEqual(['west 10.3.0.2', 'west 10.3.0.1', 'Kubernetes 10.1.0.1', 'east 10.2.0.1']);
  });

  test('counts only where both machines and those of other clusters may be selected', () => {
    const parts = [
      selecting,
      workloadEntry('vm', { address: '10.1.0.1', labels }),
      inCluster('east', far('vm', { address: '10.2.0.1' })),
    ];
    const [own, both] = [['Kubernetes 10.1.0.1'], ['Kubernetes 10.1.0.1', 'east 10.2.0.1']];
    expect(at(parts, EXT)).toEqual(both);
    expect(at(parts, EXT, flags({ PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY: 'false' }))).toEqual(own);
    expect(at(parts, EXT, flags({ PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES: 'false' }))).toEqual(own);
  });
});

describe('a machine that is probed', () => {
  const probed = (conditions: readonly JsonObject[], text = 'true'): JsonObject => ({
    ...workloadEntry(
      'vm',
      { address: '10.1.0.1', labels },
      { annotations: { 'proxy.istio.io/health-checks-enabled': text } },
    ),
    status: { conditions },
  });
  const count = (entry: JsonObject, options?: WorldOptions) => endpoints([service('web'), entry], WEB, options).length;

  test('counts once its probe says that it is healthy', () => {
    expect(count(probed([{ type: 'Healthy', status: 'True' }]))).toBe(1);
    expect(
      count(
        probed([
          { type: 'Other', status: 'False' },
          { type: 'Healthy', status: 'True' },
        ]),
      ),
    ).toBe(1);
    for (const conditions of [
      [],
      [{ type: 'Healthy', status: 'False' }],
      [{ type: 'Other', status: 'True' }],
      [
        { type: 'Other', status: 'True' },
        { type: 'Healthy', status: 'False' },
      ],
    ]) {
      expect(count(probed(conditions))).toBe(0);
      expect(endpoints([selecting, probed(conditions)], EXT)).toEqual([]);
      expect(count(probed(conditions, 'false'))).toBe(1);
      expect(count(probed(conditions), flags({ PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS: 'false' }))).toBe(1);
    }
  });
});

describe('a Service', () => {
  const vm = workloadEntry('vm', { address: '10.1.0.1', labels });
  const bare = slice('web', [{ ip: '10.0.0.1' }]);
  const [slices, both] = [['Kubernetes 10.0.0.1'], ['Kubernetes 10.0.0.1', 'Kubernetes 10.1.0.1']];

  test('has the machines that it selects, unless it is headless, an alias, or without a selector', () => {
    expect(at([service('web'), vm, bare])).toEqual(both);
    expect(at([service('web', { clusterIP: 'None' }), vm, bare])).toEqual(slices);
    expect(at([service('web', { selector: {} }), vm, bare])).toEqual(slices);
    expect(at([service('web', { type: 'ExternalName', externalName: 'a.com' }), vm, bare])).toEqual(slices);
    expect(at([service('web', { selector: { app: 'other' } }), vm, bare])).toEqual(slices);
  });

  test('has no machines where the flag says so', () => {
    const off = flags({ PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES: 'false' });
    expect(at([service('web'), vm, bare], WEB, off)).toEqual(slices);
  });

  test('of a remote cluster has no machines of the config cluster', () => {
    expect(at([vm, inCluster('east', service('web'))])).toEqual([]);
  });

  test('has the addresses of its Endpoints object while none of its slices is usable', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'web', namespace: 'default' },
      subsets: [{ addresses: [{ ip: '10.0.0.7' }], ports: [{ name: 'http', port: 9090 }] }],
    };
    const names = { ...slice('web', []), addressType: 'FQDN', endpoints: [{ addresses: ['a.example.com'] }] };
    expect(at([service('web'), object, names])).toEqual(['Kubernetes 10.0.0.7']);
    expect(at([service('web'), object, names, slice('web', [], { name: 'empty' })])).toEqual([]);
  });

  test('of several clusters has endpoints of its namespace alone', () => {
    const parts = [service('web'), bare, inCluster('east', service('web'), slice('web', [{ ip: '10.2.0.1' }]))];
    expect(at(parts)).toEqual(['Kubernetes 10.0.0.1', 'east 10.2.0.1']);
    expect(at(parts, { ...WEB, namespace: 'shop' })).toEqual([]);
    expect(ask(world(parts), endpointShards, WEB).map(({ provider }) => provider)).toEqual([
      'Kubernetes',
      'Kubernetes',
    ]);
  });

  test('that is unknown has unready endpoints as unhealthy ones', () => {
    const gone = slice('web', [{ ip: '10.0.0.1', ready: false, serving: true, terminating: true }]);
    const health = (parts: readonly WorldPart[]) =>
      ask(world(parts), kubernetesEndpoints, 'Kubernetes/default/web')[0]?.health;
    expect(health([gone])).toBe('UnHealthy');
    expect(health([service('web'), gone])).toBe('Terminating');
  });
});
