// The service model point by point: what Istio's registries say of services and endpoints, each with a row of its own.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Endpoint, Service } from '../../../../src/core/model/service.ts';
import type { ServiceRef } from '../../../../src/core/model/service-ref.ts';
import { endpointShards } from '../../../../src/core/registry/endpoints.ts';
import { allServices } from '../../../../src/core/registry/services.ts';
import type { State } from '../../../../src/core/state.ts';
import { ask, inCluster, type WorldOptions, type WorldPart, world } from '../../world.ts';
import { withMeta } from '../handlers/rows.ts';
import { namespace, node, pod, service, serviceEntry, slice } from './fixtures.ts';

const WEB = { hostname: 'web.default.svc.cluster.local', namespace: 'default' };
const endpoints = (state: State, arg: ServiceRef = WEB): readonly Endpoint[] =>
  ask(state, endpointShards, arg).flatMap(shard => shard.endpoints);
const services = (state: State): readonly Service[] => ask(state, allServices, '');
const flags = (env: Record<string, string>): WorldOptions => ({ settings: { env } });

describe('a Kubernetes service', () => {
  const only = (spec: JsonObject, meta = {}): Service => services(world([service('web', spec, meta)]))[0]!;
  test('that is headless has no address, and proxies connect to the requested one', () => {
    expect(only({ clusterIP: 'None' })).toMatchObject({
      resolution: 'Passthrough',
      defaultAddress: '0.0.0.0',
      clusterVips: { Kubernetes: ['0.0.0.0'] },
    });
  });
  test('of type ExternalName is an alias outside the mesh', () => {
    const alias = { type: 'ExternalName', externalName: 'example.com', clusterIP: '', selector: {} };
    expect(only(alias)).toMatchObject({ resolution: 'Alias', externalName: 'example.com', meshExternal: true });
  });
  test('keeps publishNotReadyAddresses', () => {
    expect(only({}).publishNotReadyAddresses).toBe(false);
    expect(only({ publishNotReadyAddresses: true }).publishNotReadyAddresses).toBe(true);
  });
  test('with local traffic policy keeps traffic on the node', () => {
    expect(only({ internalTrafficPolicy: 'Local' }).nodeLocal).toBe(true);
    expect(only({ internalTrafficPolicy: 'Cluster' }).nodeLocal).toBe(false);
  });
  test('has the addresses assigned to its load balancer, and its externalIPs', () => {
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'lb.example.com' }, {}] } };
    const of = (type: string) =>
      services(world([{ ...service('web', { type, externalIPs: ['192.0.2.9'] }), status }]))[0]?.externalAddresses;
    expect(of('LoadBalancer')).toEqual({ Kubernetes: ['192.0.2.1', 'lb.example.com', '192.0.2.9'] });
    expect(of('ClusterIP')).toEqual({ Kubernetes: ['192.0.2.9'] });
  });
  test('lists accounts as annotated, and those of the namespace', () => {
    const annotations = {
      'alpha.istio.io/canonical-serviceaccounts': 'spiffe://x/y',
      'alpha.istio.io/kubernetes-serviceaccounts': 'b,a',
    };
    expect(only({}, { annotations }).serviceAccounts).toEqual([
      'spiffe://cluster.local/ns/default/sa/a',
      'spiffe://cluster.local/ns/default/sa/b',
      'spiffe://x/y',
    ]);
  });
});

describe('the health of an endpoint', () => {
  const one = (conditions: object, meta = {}, options?: WorldOptions): Endpoint =>
    endpoints(world([service('web', {}, meta), slice('web', [{ ip: '10.0.0.1', ...conditions }])], options))[0]!;
  const session = (label: string) => ({ labels: { [label]: 'cookie' } });
  test.each([
    ['ready', { ready: true }, {}, 'Healthy'],
    ['not said', {}, {}, 'Healthy'],
    ['not ready', { ready: false, terminating: false }, {}, 'UnHealthy'],
    ['not ready, the rest not said', { ready: false }, {}, 'Terminating'],
    [
      'draining: it still serves, and sessions stick',
      { ready: false, serving: true, terminating: true },
      session('istio.io/persistent-session'),
      'Draining',
    ],
    ['draining, by the other label', { ready: false }, session('istio.io/persistent-session-header'), 'Draining'],
    [
      'it serves no more',
      { ready: false, serving: false, terminating: true },
      session('istio.io/persistent-session'),
      'Terminating',
    ],
    ['not terminating', { ready: false, terminating: false }, session('istio.io/persistent-session'), 'UnHealthy'],
  ])('is derived from conditions: %s', (_, conditions, meta, health) => {
    expect(one(conditions, meta).health).toBe(health);
  });
  test('of an Endpoints object is unhealthy if it is not ready', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'web', namespace: 'default' },
      subsets: [
        {
          addresses: [{ ip: '10.0.0.1' }],
          notReadyAddresses: [{ ip: '10.0.0.2' }],
          ports: [{ name: 'http', port: 8080 }],
        },
      ],
    };
    expect(endpoints(world([service('web'), object])).map(({ health }) => health)).toEqual(['Healthy', 'Terminating']);
  });
  test('is undefined for slices of names or of another API', () => {
    const imported = withMeta(slice('web', [{ ip: '10.0.0.1' }]), {
      labels: { 'kubernetes.io/service-name': 'web', 'multicluster.kubernetes.io/service-name': 'web' },
    });
    expect(endpoints(world([service('web'), imported]))).toEqual([]);
    const names = { ...slice('web', []), addressType: 'FQDN', endpoints: [{ addresses: ['a.example.com'] }] };
    expect(endpoints(world([service('web'), names]))).toEqual([]);
  });
});

describe('the location of an endpoint', () => {
  const at = (
    nodeLabels: Record<string, string>,
    podLabels: Record<string, string> = {},
    ...more: readonly WorldPart[]
  ): Endpoint =>
    endpoints(
      world([
        service('web'),
        { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: nodeLabels } },
        pod('p', '10.0.0.1', { node: 'n', labels: podLabels }),
        slice('web', [{ ip: '10.0.0.1', pod: 'p' }]),
        ...more,
      ]),
    )[0]!;
  const region = { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'z' };
  test.each([
    ['region and zone', region, {}, 'r/z/'],
    [
      'the labels of old',
      { 'failure-domain.beta.kubernetes.io/region': 'r', 'failure-domain.beta.kubernetes.io/zone': 'z' },
      {},
      'r/z/',
    ],
    ['the new ones first', { ...region, 'failure-domain.beta.kubernetes.io/region': 'old' }, {}, 'r/z/'],
    ['a subzone', { ...region, 'topology.istio.io/subzone': 's' }, {}, 'r/z/s'],
    ['a subzone alone', { 'topology.istio.io/subzone': 's' }, {}, '//s'],
    ['nothing', { other: 'x' }, {}, ''],
    ['what the pod says', region, { 'istio-locality': 'a.b.c' }, 'a/b/c'],
    [
      'what the pod says, the new way first',
      region,
      { 'istio-locality': 'a', 'topology.istio.io/locality': 'x.y' },
      'x/y',
    ],
  ])('comes from its node or pod: %s', (_, nodeLabels, podLabels, locality) => {
    expect(at(nodeLabels, podLabels).locality).toBe(locality);
  });
  test('is added to its labels, for subsets and failover', () => {
    expect(at({ ...region, 'topology.istio.io/subzone': 's' }, { app: 'web' }).labels).toEqual({
      app: 'web',
      'topology.kubernetes.io/region': 'r',
      'topology.kubernetes.io/zone': 'z',
      'topology.istio.io/subzone': 's',
      'topology.istio.io/cluster': 'Kubernetes',
      'kubernetes.io/hostname': 'n',
    });
  });
  test('has the network of its pod, else of its cluster', () => {
    const cluster = namespace('istio-system', { labels: { 'topology.istio.io/network': 'n2' } });
    expect(at({}, {}, cluster).network).toBe('n2');
    expect(at({}, { 'topology.istio.io/network': 'n1' }, cluster)).toMatchObject({
      network: 'n1',
      labels: { 'topology.istio.io/network': 'n1' },
    });
  });
});

describe('dual stack', () => {
  const both = ['10.0.0.1', 'fd00::1'];
  const dual = service('web', { clusterIPs: ['10.96.0.1', 'fd00:96::1'] });
  const parts: readonly JsonObject[] = [
    dual,
    { ...pod('p', '10.0.0.1'), status: { phase: 'Running', podIP: '10.0.0.1', podIPs: both.map(ip => ({ ip })) } },
    slice('web', [{ ip: '10.0.0.1', pod: 'p' }]),
    { ...slice('web', [{ ip: 'fd00::1', pod: 'p' }], { name: 'web-6' }), addressType: 'IPv6' },
  ];
  test('switched off gives each slice its own endpoints', () => {
    expect(endpoints(world(parts)).map(({ addresses }) => addresses)).toEqual([['fd00::1'], ['10.0.0.1']]);
  });
  test('switched on gives one endpoint with both addresses', () => {
    const state = world(parts, flags({ ISTIO_DUAL_STACK: 'true' }));
    expect(endpoints(state).map(({ addresses }) => addresses)).toEqual([both]);
    expect(services(state)[0]?.clusterVips).toEqual({ Kubernetes: ['10.96.0.1', 'fd00:96::1'] });
  });
  test('switched on changes nothing for a service of one family', () => {
    const state = world([service('web'), ...parts.slice(1)], flags({ ISTIO_DUAL_STACK: 'true' }));
    expect(endpoints(state)).toHaveLength(2);
  });
});

describe('a service in several clusters', () => {
  test('is defined by the config cluster; each cluster adds its addresses within and its accounts', () => {
    const account = (name: string) => ({ annotations: { 'alpha.istio.io/kubernetes-serviceaccounts': name } });
    const state = world([
      inCluster(
        'A',
        service(
          'web',
          { clusterIP: '10.1.0.1', ports: [{ name: 'tcp', port: 9 }], externalIPs: ['192.0.2.1'] },
          account('a'),
        ),
      ),
      inCluster('B', service('only-b', { clusterIP: '10.2.0.2' })),
      service('web', { clusterIP: '10.0.0.1' }, account('k')),
    ]);
    const [onlyB, web] = [...services(state)].sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(web).toMatchObject({
      ports: [{ name: 'http', port: 80 }],
      defaultAddress: '10.0.0.1',
      clusterVips: { Kubernetes: ['10.0.0.1'], A: ['10.1.0.1'] },
      externalAddresses: {},
      serviceAccounts: ['spiffe://cluster.local/ns/default/sa/a', 'spiffe://cluster.local/ns/default/sa/k'],
    });
    expect(onlyB).toMatchObject({ clusterVips: { B: ['10.2.0.2'] }, defaultAddress: '10.2.0.2' });
  });
  test('is defined by the first cluster by name without a config cluster', () => {
    const state = world([
      inCluster('B', service('web', { clusterIP: '10.2.0.1' })),
      inCluster('A', service('web', { clusterIP: '10.1.0.1' })),
    ]);
    expect(services(state)[0]?.defaultAddress).toBe('10.1.0.1');
  });
  test('never takes the node of the same name in another cluster', () => {
    const state = world([
      inCluster('A', node('n', 'far', 'z')),
      node('n', 'near', 'z'),
      service('web'),
      pod('p', '10.0.0.1', { node: 'n' }),
      slice('web', [{ ip: '10.0.0.1', pod: 'p' }]),
    ]);
    expect(endpoints(state)[0]?.locality).toBe('near/z/');
  });
});

describe('a ServiceEntry', () => {
  const entry = (name: string, spec: JsonObject, meta = {}): JsonObject =>
    serviceEntry(name, { resolution: 'DNS', ...spec }, meta);
  const of = (...objects: readonly JsonObject[]): Service => services(world(objects))[0]!;
  test('is outside the mesh unless it declares otherwise', () => {
    expect(of(entry('e', { hosts: ['a.com'] })).meshExternal).toBe(true);
    expect(of(entry('e', { hosts: ['a.com'], location: 'MESH_INTERNAL' })).meshExternal).toBe(false);
  });
  test('is visible as exportTo defines', () => {
    expect(of(entry('e', { hosts: ['a.com'], exportTo: ['.', 'prod'] })).exportTo).toEqual(['default', 'prod']);
    expect(of(entry('e', { hosts: ['a.com'], exportTo: ['~'] })).exportTo).toEqual(['~']);
  });
});

describe('an allocated address', () => {
  const entry = (name: string, host: string, rest: JsonObject = {}, meta = {}): JsonObject =>
    serviceEntry(name, { hosts: [host], resolution: 'DNS', ...rest }, meta);
  const allocated = (
    objects: readonly JsonObject[],
    env: Record<string, string> = {},
  ): Readonly<Record<string, string | undefined>> =>
    Object.fromEntries(services(world(objects, flags(env))).map(found => [found.hostname, found.autoAllocatedV4]));
  const given = (object: JsonObject, host: string, ...values: readonly string[]): JsonObject => ({
    ...object,
    status: { addresses: values.map(value => ({ host, value })) },
  });
  /** As an API server has it, where a controller writes statuses. */
  const stored = (object: JsonObject): JsonObject => ({
    ...object,
    metadata: { ...(object.metadata as JsonObject), uid: 'u' },
  });
  describe('from the status', () => {
    test.each<[string, JsonObject, string | undefined]>([
      ['counts', given(entry('e', 'a.com'), 'a.com', '240.240.0.7', '2001:2::7'), '240.240.0.7'],
      ['of another host does not', stored(given(entry('e', 'a.com'), 'b.com', '240.240.0.7')), undefined],
      ['that is no address does not', stored(given(entry('e', 'a.com'), 'a.com', 'nonsense')), undefined],
      [
        'does not where there are addresses',
        given(entry('e', 'a.com', { addresses: ['1.1.1.1'] }), 'a.com', '240.240.0.7'),
        undefined,
      ],
      [
        'does not where nothing is resolved',
        given(entry('e', 'a.com', { resolution: 'NONE' }), 'a.com', '240.240.0.7'),
        undefined,
      ],
      [
        'does not where the author wants none',
        given(
          entry('e', 'a.com', {}, { labels: { 'networking.istio.io/enable-autoallocate-ip': 'False' } }),
          'a.com',
          '240.240.0.7',
        ),
        undefined,
      ],
    ])('%s', (_, object, address) => {
      expect(allocated([object])['a.com']).toBe(address);
    });
  });
  describe('hashed from the host name, with the flag off,', () => {
    const off = { PILOT_ENABLE_IP_AUTOALLOCATE: 'false' };
    const hosts = Array.from({ length: 300 }, (_, i) => `host-${i}.example.com`);
    const all = hosts.map((host, i) => entry(`e${i}`, host));
    test('is independent of order, unique, and never ends in 0 or 255', () => {
      const found = allocated(all, off);
      expect(allocated([...all].reverse(), off)).toEqual(found);
      const addresses = Object.values(found);
      expect(new Set(addresses).size).toBe(hosts.length);
      for (const address of addresses) expect(address).toMatch(/^240\.240\.\d{1,3}\.(?!0$|255$)\d{1,3}$/);
    });
    test('mostly stays when other hosts are added and removed', () => {
      const found = allocated(all, off);
      const fewer = allocated(all.slice(1), off);
      const moved = Object.entries(fewer).filter(([host, address]) => found[host] !== address);
      expect(moved.length).toBeLessThan(hosts.length / 4);
    });
    test('is absent for wildcards, for resolution NONE, and beside explicit addresses', () => {
      const rest = [
        entry('w', '*.example.com', { resolution: 'NONE' }),
        entry('n', 'n.com', { resolution: 'NONE' }),
        entry('a', 'a.com', { addresses: ['1.1.1.1'] }),
      ];
      expect(allocated(rest, off)).toEqual({ '*.example.com': undefined, 'n.com': undefined, 'a.com': undefined });
    });
    test('ignores the status', () => {
      expect(allocated([given(entry('e', 'a.com'), 'a.com', '240.240.0.7')], off)['a.com']).not.toBe('240.240.0.7');
    });
  });
});
