// Which workload a proxy is, what labels and locality that gives it, and which ports of services it serves.

import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import type { Labels } from '../../../../src/core/base/labels.ts';
import type { ProxyReader, Query } from '../../../../src/core/query/reader.ts';
import { proxyLabels, proxyLocality, proxySelectedBy, serviceTargets } from '../../../../src/core/registry/workload.ts';
import {
  ask,
  inCluster,
  type NodeOptions,
  nodeOf,
  proxyOf,
  type WorldOptions,
  type WorldPart,
  world,
} from '../../world.ts';
import { node, pod, service, serviceEntry, slice, workloadEntry } from './fixtures.ts';

function reading<R>(name: string, run: (reader: ProxyReader) => R): Query<'', R> {
  return { name: `test/${name}`, run };
}
const shown = reading('labels', reader => reader.derived(proxyLabels));
const located = reading('locality', reader => reader.derived(proxyLocality));
const labels = { app: 'web' };
const hosts = ['ext.example.com'];
const web: NodeOptions = { name: 'web-1', ip: '10.0.0.1', labels: { app: 'said' } };
const labelsOf = (parts: readonly WorldPart[], metadata: JsonObject = {}, of: NodeOptions = web) =>
  ask(world(parts), shown, '', proxyOf(nodeOf({ ...of, metadata })));

describe('the labels of a proxy', () => {
  test('are those of the pod of its name in its own cluster, without a cluster in the config cluster', () => {
    const parts = [
      pod('web-1', '10.0.0.1', { labels: { app: 'here' } }),
      inCluster('east', pod('web-1', '10.0.0.1', { labels: { app: 'there' } })),
    ];
    expect(labelsOf(parts).app).toBe('here');
    expect(labelsOf(parts, { CLUSTER_ID: 'east' })).toMatchObject({
      app: 'there',
      'topology.istio.io/cluster': 'east',
    });
    expect(labelsOf(parts, { CLUSTER_ID: 'west' }).app).toBe('said');
    expect(labelsOf(parts, { CLUSTER_ID: '' }).app).toBe('here');
  });

  test('are those of the pod over its static ones, unless it is a machine of a test', () => {
    const parts = [pod('web-1', '10.0.0.1', { labels })];
    const STATIC_LABELS = { app: 'static', tier: 'static' };
    expect(labelsOf(parts, { STATIC_LABELS })).toMatchObject({ app: 'web', tier: 'static' });
    expect(labelsOf([], { STATIC_LABELS })).not.toHaveProperty('tier');
    const machine = { ...web, labels: { app: 'said', 'istio.io/test-vm': '' } };
    expect(labelsOf(parts, { STATIC_LABELS }, machine).app).toBe('said');
  });

  test('name its node, and where no workload is known its locality', () => {
    const of = {
      ...nodeOf({ ...web, metadata: { NODE_NAME: 'n1' } }),
      locality: { region: 'r', zone: 'z', sub_zone: 's' },
    };
    expect(ask(world([]), shown, '', proxyOf(of))).toEqual({
      app: 'said',
      'topology.istio.io/cluster': 'Kubernetes',
      'topology.kubernetes.io/region': 'r',
      'topology.kubernetes.io/zone': 'z',
      'topology.istio.io/subzone': 's',
      'kubernetes.io/hostname': 'n1',
    });
  });

  test('are in the config cluster those of the endpoint at its address, of the ServiceEntry that has it', () => {
    const endpoint = (address: string, app: string): JsonObject => ({ address, labels: { app } });
    const [one, other] = [
      serviceEntry('b', { hosts, endpoints: [endpoint('10.0.0.1', 'b'), endpoint('10.0.0.2', 'c')] }, { day: 2 }),
      serviceEntry('a', { hosts, endpoints: [endpoint('10.0.0.3', 'a')] }),
    ];
    const app = (ips: string, metadata: JsonObject = {}) =>
      labelsOf([one!, other!], { INSTANCE_IPS: ips, ...metadata }).app;
    expect(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'].map(ip => app(ip))).toEqual(['b', 'c', 'a', 'said']);
    // The first address counts first.
    expect([app('10.0.0.3,10.0.0.2'), app('10.0.0.2,10.0.0.3')]).toEqual(['a', 'c']);
    expect(app('10.0.0.1', { CLUSTER_ID: 'east' })).toBe('said');
    expect(app('10.0.0.1', { CLUSTER_ID: '' })).toBe('b');
  });

  test('are matched with each selector by itself, and with an empty one always', () => {
    const selectors: readonly Labels[] = [{ app: 'said' }, { app: 'web' }, { app: 'said', more: 'x' }, {}];
    const selected = reading('selected', reader => selectors.map(one => proxySelectedBy(reader, one)));
    expect(ask(world([]), selected, '', proxyOf(nodeOf(web)))).toEqual([true, false, false, true]);
  });
});

test.each<[JsonObject, string]>([
  [{ 'topology.kubernetes.io/region': 'a' }, 'a//'],
  [{ 'topology.kubernetes.io/zone': 'b' }, '/b/'],
  [{ 'topology.istio.io/subzone': 'c' }, '//c'],
  [{ 'topology.kubernetes.io/region': 'a', 'istio-locality': 'x/y/z' }, 'a//'],
  [{ 'istio-locality': 'x/y/z' }, 'x/y/z'],
  [{}, 'r/z/s'],
])(
  'the locality of a proxy without a known workload is that of its labels %j, else of its node: %s',
  (of, expected) => {
    const made = {
      ...nodeOf({ labels: of as Record<string, string> }),
      locality: { region: 'r', zone: 'z', sub_zone: 's' },
    };
    const { region, zone, subzone } = ask(world([]), located, '', proxyOf(made));
    expect(`${region}/${zone}/${subzone}`).toBe(expected);
  },
);

test('the locality of a proxy is that of its pod, by label or node', () => {
  const at = (of: JsonObject) => ask(world([of, node('n1', 'r', 'z')]), located, '', proxyOf(nodeOf(web)));
  expect(at(pod('web-1', '10.0.0.1', { node: 'n1' }))).toEqual({ region: 'r', zone: 'z', subzone: '' });
  expect(at(pod('web-1', '10.0.0.1', { node: 'n1', labels: { 'istio-locality': 'a.b' } }))).toMatchObject({
    region: 'a',
  });
});

describe('a proxy serves', () => {
  const targets = (
    parts: readonly WorldPart[],
    metadata: JsonObject = {},
    options?: WorldOptions,
    of: NodeOptions = web,
  ) =>
    ask(world(parts, options), serviceTargets, '', proxyOf(nodeOf({ ...of, metadata }))).map(
      ({ service: found, port, targetPort }) => `${found.namespace}/${found.name}:${port.name}>${targetPort}`,
    );
  const own = pod('web-1', '10.0.0.1', { labels });
  const named = (...containerPorts: readonly JsonObject[]): JsonObject => ({
    ...own,
    spec: { ...(own.spec as object), containers: [{ name: 'c', ports: containerPorts }] },
  });
  const target = (targetPort: Json, more: JsonObject = {}): JsonObject => ({
    ports: [{ name: 'http', port: 80, targetPort, ...more }],
  });

  test('what selects the labels of its pod, whatever its static labels and its place', () => {
    const by = (selector: JsonObject) => targets([own, service('web', { selector })], { STATIC_LABELS: { tier: 'a' } });
    expect(by({ app: 'web' })).toEqual(['default/web:http>8080']);
    expect(by({ tier: 'a' })).toEqual([]);
    expect(by({ 'topology.istio.io/cluster': 'Kubernetes' })).toEqual([]);
  });

  test('Services of its own cluster and namespace, without a cluster those of the config cluster', () => {
    const parts = [
      own,
      service('web', target(1)),
      service('web', target(2), { namespace: 'shop' }),
      inCluster('east', own, service('web', target(3))),
    ];
    expect(targets(parts)).toEqual(['default/web:http>1']);
    expect(targets(parts, { CLUSTER_ID: 'east' })).toEqual(['default/web:http>3']);
    expect(targets(parts, { CLUSTER_ID: '' })).toEqual(['default/web:http>1']);
  });

  test('at the port of its pod that has name and protocol', () => {
    const parts = (protocol: string) => [
      named({ name: 'web', containerPort: 1, protocol: 'UDP' }, { name: 'web', containerPort: 2 }),
      service('web', target('web', { protocol })),
    ];
    expect(targets(parts('TCP'))).toEqual(['default/web:http>2']);
    expect(targets(parts('UDP'))).toEqual(['default/web:http>1']);
  });

  test('no Service with a selector that a slice alone says it serves', () => {
    const parts = [own, service('old', { selector: { app: 'old' } }), slice('old', [{ ip: '10.0.0.1' }])];
    expect(targets(parts)).toEqual([]);
    expect(targets([...parts, service('db', { selector: {} }), slice('db', [{ ip: '10.0.0.1' }])])).toEqual([
      'default/db:http>8080',
    ]);
  });

  test.each<[string, Json, readonly string[]]>([
    ['a list', [{ name: 'web', containerPort: 9090, protocol: 'TCP' }], ['default/web:http>9090']],
    ['text', '[{"name":"web","containerPort":9090,"protocol":"TCP"}]', ['default/web:http>9090']],
    ['a list for another protocol', [{ name: 'web', containerPort: 9090, protocol: 'UDP' }], []],
    ['a list without a number', [{ name: 'web', containerPort: 'x', protocol: 'TCP' }], []],
    ['an empty list', [], ['default/web:http>0']],
    ['text that is no JSON', 'nonsense', ['default/web:http>0']],
    ['no list', { web: 9090 }, ['default/web:http>0']],
  ])('as an unknown pod at the ports that it announces as %s', (_what, POD_PORTS, expected) => {
    const of = { ...web, labels };
    expect(targets([service('web', target('web'))], { POD_PORTS }, {}, of)).toEqual(expected);
  });

  describe('as a machine', () => {
    const vm = workloadEntry('vm', { address: '10.0.0.1', labels });
    test('no headless Service, none without a selector, and no port over UDP or of a name that it lacks', () => {
      const ports = [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 5353 },
        { name: 'named', port: 81, targetPort: 'nowhere' },
      ];
      expect(targets([vm, service('web', { ports })])).toEqual(['default/web:http>8080']);
      expect(targets([vm, service('web', { ports, clusterIP: 'None' })])).toEqual([]);
      expect(targets([vm, service('web', { ports, selector: {} })])).toEqual([]);
      expect(targets([vm, service('web', { ports, selector: { app: 'other' } })])).toEqual([]);
    });

    test('nothing by a WorkloadEntry that is not healthy or of another cluster', () => {
      const probed = workloadEntry(
        'vm',
        { address: '10.0.0.1', labels },
        { annotations: { 'proxy.istio.io/health-checks-enabled': 'true' } },
      );
      expect(targets([probed, service('web')])).toEqual([]);
      const far = (of: JsonObject): JsonObject => ({
        ...of,
        apiVersion: 'periplus.internal/v1',
        kind: 'RemoteWorkloadEntry',
      });
      const parts = [inCluster('east', far(vm), service('web')), inCluster('west', service('web'))];
      expect(targets(parts, { CLUSTER_ID: 'east' })).toEqual(['default/web:http>8080']);
      expect(targets(parts, { CLUSTER_ID: 'west' })).toEqual([]);
    });
  });

  describe('of ServiceEntries', () => {
    const ports = [
      { number: 80, name: 'http', protocol: 'HTTP' },
      { number: 90, name: 'tcp', protocol: 'TCP', targetPort: 9090 },
    ];
    const entry = (name: string, address: string, more: JsonObject = {}, namespace = 'default') =>
      serviceEntry(name, { hosts, ports, endpoints: [{ address }], ...more }, { namespace });

    test('the ports of those of its namespace that have an endpoint at its address, by each of their hosts', () => {
      const parts = [entry('a', '10.0.0.1'), entry('b', '10.0.0.2'), entry('a', '10.0.0.1', {}, 'aaa')];
      expect(targets(parts)).toEqual(['default/ext.example.com:http>80', 'default/ext.example.com:tcp>9090']);
      const two = entry('a', '10.0.0.1', { hosts: ['a.com', 'b.com'], ports: ports.slice(0, 1) });
      expect(targets([two])).toEqual(['default/a.com:http>80', 'default/b.com:http>80']);
      expect(targets([entry('b', '10.0.0.2')])).toEqual([]);
    });

    test('as the service of that entry, also where a Service or another entry has the host', () => {
      const host = 'web.default.svc.cluster.local';
      const added = entry('z', '10.0.0.1', { hosts: [host], ports: [{ number: 80, name: 'own', protocol: 'TCP' }] });
      const other = entry('a', '10.0.0.2', { hosts: [host], ports: [{ number: 80, name: 'own', protocol: 'HTTP' }] });
      const found = ask(
        world([service('web', { selector: { app: 'none' } }), other, added]),
        serviceTargets,
        '',
        proxyOf(nodeOf(web)),
      );
      expect(found.map(({ service: { objectName }, port }) => [objectName, port.protocol])).toEqual([['z', 'TCP']]);
    });
  });
});
