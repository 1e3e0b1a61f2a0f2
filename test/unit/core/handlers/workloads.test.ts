// workloadEntryHandler, and the two workload instance handlers: pods that ServiceEntries select, WorkloadEntries that
// Kubernetes services select.
// Source: Istio pilot/pkg/serviceregistry/serviceentry/controller.go (pushWorkloadUpdates).

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { anyEndpointsRequest, PARTS_COMPARED_MAX } from '../../../../src/core/handlers/comparison.ts';
import { ENDPOINTS_COMPARED_MAX, PODS_COUNTED_MAX } from '../../../../src/core/handlers/workload-instance.ts';
import { noPush } from '../../../../src/core/push-request.ts';
import { inCluster, world } from '../../world.ts';
import { pod, service, serviceEntry, workloadEntry } from '../registry/fixtures.ts';
import { deletes, entryKey, rows, says, serviceKey, withMeta, withProxy } from './rows.ts';

const labels = { app: 'web' };
const EXT = entryKey('ext.com');
const WEB = serviceKey('web');
const selecting = (resolution = 'STATIC'): JsonObject =>
  serviceEntry('ext', { hosts: ['ext.com'], resolution, workloadSelector: { labels } });
const vm = (spec: JsonObject = {}, meta: Parameters<typeof workloadEntry>[2] = {}): JsonObject =>
  workloadEntry('vm', { address: '1.1.1.1', labels, ...spec }, meta);
const other = workloadEntry('other', { address: '9.9.9.9', labels });
const unlabelled = vm({ labels: { app: 'x' } });

describe('a WorkloadEntry selected by a ServiceEntry pushes:', () => {
  rows([
    ['the first one: full', [selecting()], says(vm()), `full endpoint ${EXT}`],
    ['one more: incremental', [selecting(), other], says(vm()), `incremental endpoint ${EXT}`],
    ['a deleted one: incremental', [selecting(), other, vm()], deletes(vm()), `incremental endpoint ${EXT}`],
    ['its address', [selecting(), vm()], says(vm({ address: '1.1.1.2' })), `incremental endpoint ${EXT}`],
    [
      'its labels, still selected',
      [selecting(), vm()],
      says(vm({ labels: { ...labels, v: '2' } })),
      `incremental endpoint ${EXT}`,
    ],
    ['its labels, no longer selected', [selecting(), vm()], says(unlabelled), `incremental endpoint ${EXT}`],
    ['its labels, selected now', [selecting(), other, unlabelled], says(vm()), `incremental endpoint ${EXT}`],
    ['its weight', [selecting(), vm()], says(vm({ weight: 7 })), `incremental endpoint ${EXT}`],
    ['its account: full', [selecting(), vm()], says(vm({ serviceAccount: 'a' })), `full endpoint ${EXT}`],
    ['nothing if it is unchanged', [selecting(), vm()], says(vm()), '-'],
    ['nothing if it is not selected', [selecting()], says(unlabelled), '-'],
    ['nothing in another namespace', [selecting()], says(vm({}, { namespace: 'prod' })), '-'],
    [
      'where proxies resolve names: full',
      [selecting('DNS'), other],
      says(vm({ address: 'vm.example.com' })),
      `full endpoint ${EXT}`,
    ],
    ['a host name behind a static entry: nothing', [selecting(), other], says(vm({ address: 'vm.example.com' })), '-'],
    [
      'nothing for a ServiceEntry with endpoints of its own',
      [serviceEntry('ext', { hosts: ['ext.com'] })],
      says(vm()),
      '-',
    ],
    [
      'a ServiceEntry whose selector has no labels',
      [serviceEntry('ext', { hosts: ['ext.com'], workloadSelector: {} }), other],
      says(unlabelled),
      `incremental endpoint ${EXT}`,
    ],
  ]);
});

describe('the health of a WorkloadEntry pushes:', () => {
  const checked = { annotations: { 'proxy.istio.io/health-checks-enabled': 'true' } };
  const says1 = (status: string): JsonObject => ({
    ...vm({}, checked),
    status: { conditions: [{ type: 'Healthy', status }] },
  });
  rows([
    ['nothing while it is unknown', [selecting(), other], says(vm({}, checked)), '-'],
    [
      'an added endpoint once healthy',
      [selecting(), other, vm({}, checked)],
      says(says1('True')),
      `incremental endpoint ${EXT}`,
    ],
    [
      'a removed endpoint once unhealthy',
      [selecting(), other, says1('True')],
      says(says1('False')),
      `incremental endpoint ${EXT}`,
    ],
    ['nothing while still unhealthy', [selecting(), other, says1('False')], says(vm({}, checked)), '-'],
    ['nothing when deleted while unhealthy', [selecting(), other, says1('False')], deletes(says1('False')), '-'],
  ]);
});

describe('a WorkloadEntry selected by a Kubernetes service pushes:', () => {
  const web = service('web');
  rows([
    ['the first one: full', [web], says(vm()), `full endpoint ${WEB}`],
    ['one more: incremental', [web, other], says(vm()), `incremental endpoint ${WEB}`],
    ['relabelled away: the service it leaves, too', [web, vm()], says(unlabelled), `incremental endpoint ${WEB}`],
    ['nothing for a service without selector', [service('web', { selector: {} })], says(vm()), '-'],
    ['nothing for a service of another cluster', [inCluster('remote', web)], says(vm()), '-'],
    ['nothing for a headless service', [service('web', { clusterIP: 'None' }), other], says(vm()), '-'],
    ['both sorts of services', [web, selecting(), other], says(vm()), `incremental endpoint ${EXT} ${WEB}`],
  ]);
});

describe('a WorkloadEntry of a remote cluster pushes:', () => {
  const remote = (spec: JsonObject = {}): JsonObject => ({
    ...vm(spec),
    apiVersion: 'periplus.internal/v1',
    kind: 'RemoteWorkloadEntry',
  });
  const known = inCluster('east', remote());
  const off = { settings: { env: { PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY: 'false' } } };
  rows([
    ['a ServiceEntry that selects it', [selecting()], says(remote(), 'east'), `full endpoint ${EXT}`],
    [
      'a Service of its own cluster',
      [inCluster('east', service('web'))],
      says(remote(), 'east'),
      `full endpoint ${WEB}`,
    ],
    ['nothing for a Service of another cluster', [service('web')], says(remote(), 'east'), '-'],
    ['what it no longer stands behind', [selecting(), known], deletes(remote(), 'east'), `incremental endpoint ${EXT}`],
    ['nothing if they are not read', world([selecting()], off), says(remote(), 'east'), '-'],
  ]);
});

describe('a Gateway of a remote cluster pushes:', () => {
  const gateway = (labels: JsonObject, port = 15443): JsonObject => ({
    apiVersion: 'periplus.internal/v1',
    kind: 'RemoteGateway',
    metadata: { name: 'gate', namespace: 'istio-system', labels },
    spec: {
      gatewayClassName: 'istio',
      addresses: [{ type: 'IPAddress', value: '192.0.2.1' }],
      listeners: [{ name: 'mtls', port, protocol: 'TLS', tls: { mode: 'Passthrough' } }],
    },
  });
  const network = { 'topology.istio.io/network': 'n' };
  const off = { settings: { env: { PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: 'false' } } };
  rows([
    ['everything for a network', [], says(gateway(network), 'east'), 'full forced networks'],
    ['nothing without a network', [], says(gateway({}), 'east'), '-'],
    ['nothing on a port that passes no mTLS on', [], says(gateway(network, 443), 'east'), '-'],
    ['nothing if they are not looked for', world([], off), says(gateway(network), 'east'), '-'],
  ]);
});

describe('the proxy on a WorkloadEntry pushes:', () => {
  const proxy = 'full proxy WorkloadEntry/default/vm';
  rows([
    ['the proxy when its entry is added', withProxy('vm', '1.1.1.1', []), says(vm()), proxy],
    ['the proxy when its labels change', withProxy('vm', '1.1.1.1', [vm()]), says(unlabelled), proxy],
    ['the proxy when its entry is deleted', withProxy('vm', '1.1.1.1', [vm()]), deletes(vm()), proxy],
    [
      'the proxy when the entry takes another address',
      withProxy('vm', '1.1.1.1', [vm()]),
      says(vm({ address: '2.2.2.2' })),
      proxy,
    ],
    ['nothing for another entry', withProxy('vm', '1.1.1.1', []), says(other), '-'],
  ]);
});

describe('a pod selected by a ServiceEntry pushes:', () => {
  const p = (name: string, ip: string, rest: Parameters<typeof pod>[2] = {}): JsonObject =>
    pod(name, ip, { labels, ...rest });
  const old = p('old', '10.0.0.9');
  rows([
    ['the first one: full', [selecting()], says(p('p', '10.0.0.1')), `full endpoint ${EXT}`],
    ['one more: incremental', [selecting(), old], says(p('p', '10.0.0.1')), `incremental endpoint ${EXT}`],
    ['not ready: nothing', [selecting(), old], says(p('p', '10.0.0.1', { ready: false })), '-'],
    [
      'ready: incremental',
      [selecting(), old, p('p', '10.0.0.1', { ready: false })],
      says(p('p', '10.0.0.1')),
      `incremental endpoint ${EXT}`,
    ],
    [
      'a deleted one: incremental',
      [selecting(), old, p('p', '10.0.0.1')],
      deletes(p('p', '10.0.0.1')),
      `incremental endpoint ${EXT}`,
    ],
    [
      'relabelled away: incremental',
      [selecting(), old, p('p', '10.0.0.1')],
      says(pod('p', '10.0.0.1')),
      `incremental endpoint ${EXT}`,
    ],
    [
      'one of any cluster',
      [selecting(), old],
      state => says(p('p', '10.0.0.1'), 'remote')(state),
      `incremental endpoint ${EXT}`,
    ],
    ['in another namespace: nothing', [selecting(), old], says(p('p', '10.0.0.1', { namespace: 'prod' })), '-'],
    [
      'one with another account: full',
      [selecting(), old],
      says(p('p', '10.0.0.1', { account: 'new' })),
      `full endpoint ${EXT}`,
    ],
  ]);
});

test('a change that concerns no service pushes nothing', () => {
  expect(anyEndpointsRequest(1, [])).toBe(noPush);
});

describe('of a host with too many workloads to compare them,', () => {
  const machines = (count: number): JsonObject[] =>
    Array.from({ length: count }, (_, i) => workloadEntry(`m-${i}`, { address: `10.8.${i >> 8}.${i & 255}`, labels }));
  const pods = (count: number): JsonObject[] =>
    Array.from({ length: count }, (_, i) => pod(`p-${i}`, `10.7.${i >> 8}.${i & 255}`, { labels }));
  const ofPorts = (count: number): JsonObject => {
    const ports = Array.from({ length: count }, (_, i) => ({ number: i + 1, name: `p${i}`, protocol: 'TCP' }));
    return serviceEntry('ext', { hosts: ['ext.com'], resolution: 'STATIC', workloadSelector: { labels }, ports });
  };
  const all = (key: string) => `full endpoint+headlessendpoint ${key}`;
  const most = PARTS_COMPARED_MAX;
  rows([
    [
      'the last machine that is compared pushes what differs',
      [selecting(), ...machines(most - 1)],
      says(vm()),
      `incremental endpoint ${EXT}`,
    ],
    ['one more pushes all', [selecting(), ...machines(most)], says(vm()), all(EXT)],
    [
      'hosts times ports count: the last machine that is compared pushes what differs',
      [ofPorts(100), ...machines(ENDPOINTS_COMPARED_MAX / 100 - 1)],
      says(vm()),
      `incremental endpoint ${EXT}`,
    ],
    [
      'hosts times ports count: one more pushes all',
      [ofPorts(100), ...machines(ENDPOINTS_COMPARED_MAX / 100)],
      says(vm()),
      all(EXT),
    ],
    ['its removal pushes all', [selecting(), ...machines(most + 1), vm()], deletes(vm()), all(EXT)],
    [
      'machines and pods count together',
      [selecting(), ...machines(most / 2), ...pods(most / 2)],
      says(pod('p', '10.0.0.9', { labels })),
      all(EXT),
    ],
    [
      'each host pushes all, though another ServiceEntry with it selects few',
      [
        serviceEntry('both', { hosts: ['two.com', 'ext.com', 'one.com'], workloadSelector: { labels } }),
        serviceEntry('few', { hosts: ['ext.com'], workloadSelector: { labels: { a: '1', ...labels } } }),
        ...machines(most),
      ],
      says(vm({ labels: { a: '1', ...labels } })),
      `${all(EXT)} ${entryKey('one.com')} ${entryKey('two.com')}`,
    ],
    [
      'a machine that lacks a label of the selector pushes nothing',
      [
        serviceEntry('few', { hosts: ['ext.com'], workloadSelector: { labels: { ...labels, v: '1' } } }),
        ...machines(most),
      ],
      says(vm()),
      '-',
    ],
    [
      'a ServiceEntry without ports pushes as one with them',
      [serviceEntry('bare', { hosts: ['ext.com'], ports: undefined, workloadSelector: { labels } }), ...machines(most)],
      says(vm()),
      all(EXT),
    ],
    [
      'a pod of a namespace with too many to count them pushes all',
      [selecting(), ...pods(PODS_COUNTED_MAX).map(one => withMeta(one, { labels: { app: 'x' } }))],
      says(pod('p', '10.0.0.9', { labels })),
      all(EXT),
    ],
    [
      'a pod that becomes ready pushes all',
      [selecting(), ...pods(most), pod('p', '10.0.0.9', { labels, ready: false })],
      says(pod('p', '10.0.0.9', { labels })),
      all(EXT),
    ],
    [
      'a pod that looks as before pushes nothing',
      [selecting(), ...pods(most), pod('p', '10.0.0.9', { labels })],
      says(withMeta(pod('p', '10.0.0.9', { labels }), { annotations: { a: 'b' } })),
      '-',
    ],
    [
      'workloads that it does not select do not count',
      [selecting(), other, ...pods(most).map(one => withMeta(one, { labels: { app: 'x' } }))],
      says(vm()),
      `incremental endpoint ${EXT}`,
    ],
    [
      'machines behind a Service count',
      [service('web', { selector: labels }), ...machines(most)],
      says(vm()),
      all(WEB),
    ],
  ]);
});

describe('changes of pods that many ServiceEntries select', () => {
  test('share one list of what they push', () => {
    const hosts = Array.from({ length: 50 }, (_, i) => `h${i}.com`);
    const entries = hosts.map((host, i) =>
      serviceEntry(`e${i}`, { hosts: [host], resolution: 'STATIC', workloadSelector: { labels } }),
    );
    const pods = Array.from({ length: PARTS_COMPARED_MAX }, (_, i) => pod(`p-${i}`, `10.7.0.${i}`, { labels }));
    const before = world([...entries, ...pods]);
    const pushed = ['10.9.0.1', '10.9.0.2'].map(ip => says(pod('p', ip, { labels }))(before).push.configsUpdated);
    expect(pushed[0]).toEqual(hosts.map(host => entryKey(host)).sort());
    expect(pushed[1]).toBe(pushed[0]);
  });
});
