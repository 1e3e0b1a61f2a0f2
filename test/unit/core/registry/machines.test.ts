// Machines and pods as workloads: which of them serve a service, by which name, at which port; and what of a proxy tells
// which workload it is.

import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import type { Endpoint } from '../../../../src/core/model/service.ts';
import type { ServiceRef } from '../../../../src/core/model/service-ref.ts';
import type { ProxyReader, Query } from '../../../../src/core/query/reader.ts';
import { endpointShards, endpointsOfPort } from '../../../../src/core/registry/endpoints.ts';
import { entriesAt } from '../../../../src/core/registry/selecting.ts';
import { proxyLabels, proxyLocality, serviceTargets } from '../../../../src/core/registry/workload.ts';
import type { State } from '../../../../src/core/state.ts';
import { ask, nodeOf, proxyOf, world } from '../../world.ts';
import { pod, service, serviceEntry, slice, workloadEntry } from './fixtures.ts';

const WEB = { hostname: 'web.default.svc.cluster.local', namespace: 'default' };
const EXT = { hostname: 'ext.example.com', namespace: 'default' };
const labels = { app: 'web' };
const hosts = [EXT.hostname];

function endpoints(state: State, ref: ServiceRef = WEB): readonly Endpoint[] {
  return ask(state, endpointShards, ref).flatMap(shard => shard.endpoints);
}
const at = (state: State, ref?: ServiceRef): readonly string[] =>
  endpoints(state, ref).map(({ addresses, port }) => `${addresses[0]}:${port}`);
function reading<R>(name: string, run: (reader: ProxyReader) => R): Query<'', R> {
  return { name: `test/${name}`, run };
}
const withPod = (object: JsonObject, spec: JsonObject, status: JsonObject = {}): JsonObject => ({
  ...object,
  spec: { ...(object.spec as JsonObject), ...spec },
  status: { ...(object.status as JsonObject), ...status },
});

describe('a machine', () => {
  const vm = workloadEntry('vm', { address: '192.168.0.1', labels });

  test('is selected by no headless Service', () => {
    expect(at(world([service('web'), vm]))).toEqual(['192.168.0.1:8080']);
    expect(at(world([service('web', { clusterIP: 'None' }), vm]))).toEqual([]);
    expect(at(world([service('web', { selector: {} }), vm]))).toEqual([]);
  });

  test('has an address that is an IP to be selected by a Service', () => {
    const named = workloadEntry('vm', { address: 'vm.example.com', labels });
    expect(at(world([service('web'), named]))).toEqual([]);
  });

  test('serves the ports that it names, and none over UDP', () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 'web' },
      { name: 'admin', port: 81, targetPort: 'nowhere' },
      { name: 'own', port: 82, targetPort: 8082 },
      { name: 'same', port: 83 },
      { name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353 },
    ];
    const entry = workloadEntry('vm', { address: '192.168.0.1', labels, ports: { web: 9090, own: 9091 } });
    expect(at(world([service('web', { ports }), entry]))).toEqual([
      '192.168.0.1:9090',
      '192.168.0.1:9091',
      '192.168.0.1:83',
    ]);
  });

  test.each<[string, { readonly [key: string]: string }, { readonly [key: string]: string }, string]>([
    ['of itself', {}, {}, 'vm'],
    ['of its label', {}, { 'service.istio.io/workload-name': 'by-label' }, 'by-label'],
    [
      'of the group that registered it',
      { 'istio.io/autoRegistrationGroup': 'group' },
      { 'service.istio.io/workload-name': 'by-label' },
      'group',
    ],
    ['of its group, also an empty one', { 'istio.io/autoRegistrationGroup': '' }, {}, ''],
  ])('has the name %s', (_what, annotations, own, name) => {
    const entry = workloadEntry('vm', { address: '192.168.0.1', labels }, { annotations, labels: own });
    const [endpoint] = endpoints(world([service('web'), entry]));
    expect(endpoint).toMatchObject({ workloadName: name, health: 'Unset', weight: 1, cluster: 'Kubernetes' });
  });

  test('of another namespace is no endpoint of a ServiceEntry, also at the same address', () => {
    const selecting = serviceEntry('ext', { hosts, workloadSelector: { labels } });
    const state = (where: string): State =>
      world([selecting, workloadEntry('vm', { address: '192.168.0.1', labels }, { namespace: where })]);
    const owners = reading('owners', reader => entriesAt(reader, 'default', ['192.168.0.1']).map(({ name }) => name));
    expect(ask(state('default'), owners, '')).toEqual(['ext']);
    expect(ask(state('other'), owners, '')).toEqual([]);
    expect(at(state('other'), EXT)).toEqual([]);
  });
});

describe('a pod that a ServiceEntry selects', () => {
  const selecting = serviceEntry('ext', {
    hosts,
    ports: [{ number: 80, name: 'web', protocol: 'HTTP' }],
    workloadSelector: { labels },
  });
  const plain = pod('p', '10.0.0.1', { labels });

  test.each<[string, JsonObject, readonly string[]]>([
    ['runs', plain, ['10.0.0.1:8080']],
    ['has succeeded', withPod(plain, {}, { phase: 'Succeeded' }), []],
    ['has failed', withPod(plain, {}, { phase: 'Failed' }), []],
    ['has no address', withPod(plain, {}, { podIP: '', podIPs: [] }), []],
    ['is not ready', withPod(plain, {}, { conditions: [{ type: 'Ready', status: 'False' }] }), []],
    ['has other conditions', withPod(plain, {}, { conditions: [{ type: 'Initialized', status: 'True' }] }), []],
  ])('that %s serves accordingly', (_what, object, expected) => {
    expect(at(world([selecting, object]), EXT)).toEqual(expected);
  });

  test('serves at a port of a native sidecar, and at none of a container that only starts it', () => {
    const container = { name: 'init', ports: [{ name: 'web', containerPort: 9090 }] };
    const app: Json = [{ name: 'app' }];
    const of = (more: JsonObject): JsonObject =>
      withPod(plain, { containers: app, initContainers: [{ ...container, ...more }] });
    expect(at(world([selecting, of({ restartPolicy: 'Always' })]), EXT)).toEqual(['10.0.0.1:9090']);
    expect(at(world([selecting, of({})]), EXT)).toEqual(['10.0.0.1:80']);
  });
});

describe('endpoints by number of port', () => {
  test('are those of the namespace of the service alone', () => {
    const entry = (namespace: string, number: number, address: string): JsonObject =>
      serviceEntry(
        'ext',
        { hosts, ports: [{ number, name: 'tcp', protocol: 'TCP' }], endpoints: [{ address }] },
        { namespace },
      );
    const state = world([entry('default', 80, '1.1.1.1'), entry('other', 90, '2.2.2.2')]);
    const found = (namespace: string, number: number): readonly string[] =>
      ask(
        state,
        reading(`${namespace} ${number}`, reader => endpointsOfPort(reader, { ...EXT, namespace }, number)),
        '',
      ).map(({ addresses }) => addresses[0] ?? '');
    expect(found('default', 80)).toEqual(['1.1.1.1']);
    expect(found('default', 90)).toEqual([]);
    expect(found('other', 90)).toEqual(['2.2.2.2']);
  });

  test('are those of the ports with that number, whatever their names', () => {
    const byNumber = (parts: readonly JsonObject[], number: number, ref = WEB): readonly string[] =>
      ask(
        world(parts),
        reading(`by ${number}`, reader => endpointsOfPort(reader, ref, number)),
        '',
      ).map(({ addresses, portName }) => `${addresses[0]} ${portName}`);
    const ports = ['http', 'admin'].map((name, i) => ({ name, port: 80 + i, targetPort: 8080 + i }));
    const both = {
      ...slice('web', [{ ip: '10.0.0.1' }]),
      ports: ports.map(({ name, targetPort }) => ({ name, port: targetPort })),
    };
    const web = [service('web', { ports }, { day: 1 }), both];
    expect(byNumber(web, 80)).toEqual(['10.0.0.1 http']);
    expect(byNumber(web, 81)).toEqual(['10.0.0.1 admin']);
    expect(byNumber(web, 82)).toEqual([]);
    // The youngest service of the host decides, if its ports have any endpoint.
    const entry = (name: string, day: number, endpoints: readonly string[]): JsonObject =>
      serviceEntry(
        name,
        {
          hosts: [WEB.hostname],
          ports: [{ number: 80, name: `p-${name}`, protocol: 'TCP' }],
          endpoints: endpoints.map(address => ({ address })),
        },
        { day },
      );
    expect(byNumber([...web, entry('a', 2, [])], 80)).toEqual(['10.0.0.1 http']);
    expect(byNumber([...web, entry('a', 2, ['1.1.1.1']), entry('b', 3, ['2.2.2.2'])], 80)).toEqual([
      '1.1.1.1 p-a',
      '2.2.2.2 p-b',
    ]);
  });

  test('of a ServiceEntry are those of its registry', () => {
    const state = world([serviceEntry('ext', { hosts, endpoints: [{ address: '1.1.1.1' }] })]);
    expect(ask(state, endpointShards, EXT)).toMatchObject([
      { provider: 'External', cluster: 'Kubernetes', endpoints: [{ health: 'Unset' }] },
    ]);
  });

  test('of a name in the set of clusters are none where the set is switched off', () => {
    const state = world([service('web'), slice('web', [{ ip: '10.0.0.1' }])]);
    expect(endpoints(state, { hostname: 'web.default.svc.clusterset.local', namespace: 'default' })).toEqual([]);
  });
});

describe('the workload of a proxy', () => {
  const shown = reading('labels', reader => reader.derived(proxyLabels));
  const locality = reading('locality', reader => reader.derived(proxyLocality));

  test('has the labels of its node as text, where no pod is known', () => {
    const LABELS = { n: 1, yes: true, list: [1], text: 'x' };
    const proxy = proxyOf(nodeOf({ metadata: { LABELS } }));
    expect(ask(world([]), shown, '', proxy)).toMatchObject({ n: '1', yes: 'true', list: '', text: 'x' });
  });

  test('has the locality of its label, where no pod is known', () => {
    const at = (labels: Readonly<Record<string, string>>): unknown =>
      ask(world([]), locality, '', proxyOf(nodeOf({ labels })));
    expect(at({ 'istio-locality': 'a/b/c' })).toEqual({ region: 'a', zone: 'b', subzone: 'c' });
    // Only the registry takes dots for slashes.
    expect(at({ 'istio-locality': 'a.b.c' })).toEqual({ region: 'a.b.c', zone: '', subzone: '' });
    expect(at({ 'topology.istio.io/locality': 'x/y', 'istio-locality': 'a/b' })).toMatchObject({ region: 'x' });
  });

  test('is a machine with its address: the one of its name, else of its namespace, else the first by name', () => {
    const machine = (namespace: string, name: string, own: JsonObject = { of: `${namespace}-${name}` }): JsonObject =>
      workloadEntry(name, { address: '192.168.0.9', labels: own }, { namespace });
    const web = (namespace: string): JsonObject =>
      service('web', { selector: { of: `${namespace}-b` } }, { namespace });
    const targets = (parts: readonly JsonObject[], name: string): readonly string[] =>
      ask(world(parts), serviceTargets, '', proxyOf(nodeOf({ name, ip: '192.168.0.9' }))).map(
        target => `${target.service.namespace}/${target.service.name}`,
      );
    const all = [machine('default', 'a'), machine('default', 'b'), machine('aaa', 'b')];
    const services = [web('default'), web('aaa')];
    expect(targets([...all, ...services], 'b')).toEqual(['default/web']);
    expect(targets([...all, ...services], 'other')).toEqual([]);
    expect(targets([machine('default', 'b'), machine('aaa', 'b'), ...services], 'other')).toEqual(['default/web']);
    expect(targets([machine('zzz', 'b'), machine('aaa', 'b'), ...services], 'other')).toEqual(['aaa/web']);
    // One without labels is no workload.
    expect(targets([machine('aaa', 'b', {}), machine('default', 'b'), ...services], 'b')).toEqual(['default/web']);
    expect(targets([machine('default', 'a', {}), machine('aaa', 'b'), ...services], 'a')).toEqual(['aaa/web']);
  });

  test('serves of a Service without a selector the endpoint at its own address', () => {
    const parts = [
      service('db', {
        selector: {},
        ports: [
          { name: 'http', port: 80 },
          { name: 'other', port: 81 },
        ],
      }),
      slice('db', [{ ip: '10.0.0.1' }]),
      {
        ...slice('db', [{ ip: '10.0.0.2' }], { name: 'db-2' }),
        ports: [{ name: 'other', port: 9090, protocol: 'TCP' }],
      },
      pod('web-1', '10.0.0.1'),
    ];
    const found = ask(world(parts), serviceTargets, '', proxyOf(nodeOf({ name: 'web-1', ip: '10.0.0.1' })));
    expect(found.map(({ port, targetPort }) => [port.name, targetPort])).toEqual([['http', 8080]]);
  });

  test('has no targets while a port of one of its services has none in the metadata', () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'x', port: 81, targetPort: 'nowhere' },
    ];
    const POD_PORTS = '[{"name":"web","containerPort":9090,"protocol":"TCP"}]';
    const targets = (parts: readonly JsonObject[]): readonly unknown[] =>
      ask(world(parts), serviceTargets, '', proxyOf(nodeOf({ labels, metadata: { POD_PORTS } })));
    expect(targets([service('web')])).toHaveLength(1);
    expect(targets([service('web', { ports })])).toEqual([]);
  });

  test('is found by the first address of a proxy with another name, with the flag for it', () => {
    const p = (namespace: string): JsonObject => pod('p', '10.0.0.7', { namespace, labels: { found: namespace } });
    const found = (parts: readonly JsonObject[], ip: string, flag = 'true'): unknown => {
      const state = world(parts, { settings: { env: { ENABLE_PROXY_FIND_POD_BY_IP: flag } } });
      return ask(state, shown, '', proxyOf(nodeOf({ name: 'other-name', ip }))).found;
    };
    expect(found([p('aaa')], '10.0.0.7')).toBe('aaa');
    expect(found([p('aaa')], '10.0.0.7', 'false')).toBeUndefined();
    expect(found([p('aaa')], '10.0.0.8')).toBeUndefined();
    // Pods that share the address of their node: the one of the namespace of the proxy.
    expect(found([p('aaa'), p('default')], '10.0.0.7')).toBe('default');
    expect(found([p('aaa'), p('bbb')], '10.0.0.7')).toBeUndefined();
  });
});
