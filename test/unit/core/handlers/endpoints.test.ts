// The sources of the endpoints of Kubernetes services: slices, Endpoints objects, pods, nodes.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/endpointslice.go,
// pilot/pkg/serviceregistry/kube/controller/pod.go. The order of arrival, which matters to istiod, does not matter
// here.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { inCluster, put, world } from '../../world.ts';
import { node, pod, service, serviceEntry, slice } from '../registry/fixtures.ts';
import { deletes, entryKey, rows, says, serviceKey, withMeta, withProxy } from './rows.ts';

const WEB = serviceKey('web');
const web = service('web');
const one = slice('web', [{ ip: '10.0.0.1' }]);
const two = slice('web', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]);
const unready = (ip: string) => ({ ip, ready: false, terminating: false });

describe('an EndpointSlice pushes:', () => {
  const second = slice('web', [{ ip: '10.0.0.7' }], { name: 'web-second' });
  const of = (name: string | undefined): JsonObject =>
    withMeta(one, { labels: name === undefined ? {} : { 'kubernetes.io/service-name': name } });
  rows([
    ['the first endpoints: full', [web], says(one), `full endpoint ${WEB}`],
    ['one more: incremental', [web, one], says(two), `incremental endpoint ${WEB}`],
    ['one less: incremental', [web, two], says(one), `incremental endpoint ${WEB}`],
    ['the last one removed: incremental', [web, one], says(slice('web', [])), `incremental endpoint ${WEB}`],
    ['it goes: incremental', [web, one], deletes(one), `incremental endpoint ${WEB}`],
    ['an empty one goes: nothing', [web, slice('web', [])], deletes(one), '-'],
    ['a second slice: incremental', [web, one], says(second), `incremental endpoint ${WEB}`],
    ['a second slice with the same: nothing', [web, one], says(withMeta(one, { name: 'web-second' })), '-'],
    ['the same again: nothing', [web, one], says(one), '-'],
    ['its health: incremental', [web, one], says(slice('web', [unready('10.0.0.1')])), `incremental endpoint ${WEB}`],
    [
      'a new one that is not healthy: incremental, for the mTLS mode of a cluster is guessed from all',
      [web, one],
      says(slice('web', [{ ip: '10.0.0.1' }, unready('10.0.0.2')])),
      `incremental endpoint ${WEB}`,
    ],
    ['of a service that is not there: nothing', [], says(one), '-'],
    ['of no service: nothing', [web], says(of(undefined)), '-'],
    [
      'moved to another service: both',
      [web, service('db'), one],
      says(of('db')),
      `full endpoint ${serviceKey('db')} ${WEB}`,
    ],
    ['taken from its service: incremental', [web, one], says(of(undefined)), `incremental endpoint ${WEB}`],
    [
      'of a headless service: full beside it',
      [service('web', { clusterIP: 'None' }), one],
      says(two),
      `full endpoint+headlessendpoint ${WEB}`,
    ],
    ['of a headless service, the same again: nothing', [service('web', { clusterIP: 'None' }), one], says(one), '-'],
    [
      'a slice of another cluster',
      [web, one, inCluster('remote', web)],
      says(slice('web', [{ ip: '10.9.0.1' }]), 'remote'),
      `incremental endpoint ${WEB}`,
    ],
    [
      'of a cluster that lacks the service: nothing',
      [web, one],
      says(slice('web', [{ ip: '10.9.0.1' }]), 'remote'),
      '-',
    ],
    [
      'a new account: full',
      [web, one, pod('p', '10.0.0.2', { account: 'new' })],
      says(slice('web', [{ ip: '10.0.0.1' }, { ip: '10.0.0.2', pod: 'p' }])),
      `full endpoint ${WEB}`,
    ],
    [
      'of a service without selector that pods serve: full, for they know it by its endpoints',
      [service('web', { selector: {} }), pod('p', '10.0.0.1'), slice('web', [{ ip: '10.0.0.1', pod: 'p' }])],
      says(slice('web', [{ ip: '10.0.0.1', pod: 'p' }, { ip: '10.0.0.2' }])),
      `full endpoint ${WEB}`,
    ],
    [
      'of a service without selector that no pod serves: incremental',
      [service('web', { selector: {} }), one],
      says(two),
      `incremental endpoint ${WEB}`,
    ],
    ['a pod that is not there yet: nothing', [web], says(slice('web', [{ ip: '10.0.0.1', pod: 'p' }])), '-'],
  ]);
});

describe('an EndpointSlice of a service with others pushes:', () => {
  const named = (name: string, ...endpoints: Parameters<typeof slice>[1]): JsonObject =>
    slice('web', endpoints, { name });
  const other = named('web-other', { ip: '10.0.0.9' });
  const empty = ['a', 'b', 'c', 'd', 'e'].map(name => named(`web-${name}`));
  const p = pod('p', '10.0.0.2', { account: 'new' });
  const ofP = (name: string): JsonObject => named(name, { ip: '10.0.0.2', pod: 'p' });
  rows([
    ['one more: incremental', [web, other, one], says(two), `incremental endpoint ${WEB}`],
    ['one less: incremental', [web, other, two], says(one), `incremental endpoint ${WEB}`],
    ['it goes: incremental', [web, other, one], deletes(one), `incremental endpoint ${WEB}`],
    ['nothing for what another one has', [web, named('web-other', { ip: '10.0.0.2' }), one], says(two), '-'],
    ['nothing for a pod that another one has', [web, p, ofP('web-other'), ofP('web-x')], deletes(ofP('web-x')), '-'],
    [
      'nothing for what changes no endpoint',
      [web, other, one],
      says(withMeta(one, { annotations: { 'endpoints.istio.io/x': '1' } })),
      '-',
    ],
    ['nothing for a pod that is not there yet', [web, other, one], says(ofP('web-x')), '-'],
    ['a new account: full', [web, p, other, one], says(ofP('web')), `full endpoint ${WEB}`],
    [
      'a pod with an account that another one has: incremental',
      [web, p, pod('q', '10.0.0.3', { account: 'new' }), ofP('web-other')],
      says(named('web-x', { ip: '10.0.0.3', pod: 'q' })),
      `incremental endpoint ${WEB}`,
    ],
    ['the first endpoints: full', [web, ...empty], says(one), `full endpoint ${WEB}`],
    ['beside empty ones: incremental', [web, ...empty, other], says(one), `incremental endpoint ${WEB}`],
    [
      'of a headless service: full beside it',
      [service('web', { clusterIP: 'None' }), other, one],
      says(two),
      `full endpoint+headlessendpoint ${WEB}`,
    ],
    [
      'of a service without selector that pods serve: full',
      [service('web', { selector: {} }), p, ofP('web-other'), one],
      says(named('web', { ip: '10.0.0.1' }, { ip: '10.0.0.8' })),
      `full endpoint ${WEB}`,
    ],
  ]);

  test('cost one slice, not all of the service', () => {
    const grown = (count: number): number => {
      let state = world([web]);
      const began = process.cpuUsage().user;
      for (let i = 0; i < count; i++) {
        const ips = Array.from({ length: 20 }, (_, n) => ({ ip: `10.${i >> 8}.${i & 255}.${n}` }));
        state = put(state, named(`web-${i}`, ...ips)).state;
      }
      return process.cpuUsage().user - began;
    };
    const least = (count: number): number => Math.min(...Array.from({ length: 4 }, () => grown(count)));
    // Ten times the slices: a hundred times the work if each were compared with all.
    expect(least(500) / least(50)).toBeLessThan(40);
  });
});

describe('of a service with too many slices to compare them, a slice with an account that others lack', () => {
  const p = pod('p', '10.0.0.1', { account: 'new' });
  const ofP = slice('web', [{ ip: '10.0.0.1', pod: 'p' }]);
  const others = (count: number, endpoints = 1): JsonObject[] =>
    Array.from({ length: count }, (_, i) =>
      slice(
        'web',
        Array.from({ length: endpoints }, (__, n) => ({ ip: `10.9.${i}.${n}` })),
        { name: `web-a${i}` },
      ),
    );
  const all = `full endpoint+headlessendpoint ${WEB}`;
  rows([
    ['pushes what differs of few', [web, p, ...others(2)], says(ofP), `full endpoint ${WEB}`],
    ['pushes all of many', [web, p, ...others(100)], says(ofP), all],
    ['pushes all of large ones', [web, p, ...others(10, 100)], says(ofP), all],
    ['pushes all when it goes', [web, p, ...others(100), ofP], deletes(ofP), all],
  ]);
});

describe('of a service with too many slices to compare them,', () => {
  const others = Array.from({ length: 100 }, (_, i) => slice('web', [{ ip: `10.9.0.${i}` }], { name: `web-b${i}` }));
  const p = pod('p', '10.0.0.1');
  const ofP = slice('web', [{ ip: '10.0.0.1', pod: 'p' }]);
  const again = slice('web', [{ ip: '10.0.0.1', pod: 'p' }], { name: 'web-ipv6' });
  const more = slice('web', [{ ip: '10.0.0.1', pod: 'p' }, { ip: '10.0.0.2' }]);
  const empty = (name: string): JsonObject => slice('web', [], { name });
  const large = [web, p, ...others, ofP];
  const onN = node('n', 'r', 'z');
  rows([
    ['a pod whose endpoint stays pushes nothing', large, says(withMeta(p, { annotations: { a: 'b' } })), '-'],
    [
      'a pod whose endpoint changes pushes all',
      large,
      says(withMeta(p, { labels: { version: 'v2' } })),
      `full endpoint+headlessendpoint ${WEB}`,
    ],
    [
      'a slice whose pod another one has too is incremental',
      [...large, again],
      says(more),
      `incremental endpoint ${WEB}`,
    ],
    [
      'a slice with endpoints as before pushes nothing, also if the first others have none',
      [...large, ...['a', 'b', 'c', 'd', 'e'].map(one => empty(`web-a${one}`))],
      says(withMeta(ofP, { annotations: { a: 'b' } })),
      '-',
    ],
    [
      'a slice that comes from another service pushes all',
      [...large, service('db'), slice('db', [{ ip: '10.0.0.3' }], { name: 'moved' })],
      says(slice('web', [{ ip: '10.0.0.3' }], { name: 'moved' })),
      `full endpoint+headlessendpoint ${serviceKey('db')} ${WEB}`,
    ],
    [
      'a node that gives a pod another locality pushes all',
      [web, onN, pod('p', '10.0.0.1', { node: 'n' }), ...others, ofP],
      says(node('n', 'r', 'z2')),
      `full endpoint+headlessendpoint ${WEB}`,
    ],
    [
      'a node that gives it none pushes nothing',
      [web, onN, pod('p', '10.0.0.1', { node: 'n' }), ...others, ofP],
      says(withMeta(onN, { annotations: { a: 'b' } })),
      '-',
    ],
  ]);
});

describe('an Endpoints object pushes:', () => {
  const endpoints = (...ips: readonly string[]): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', namespace: 'default' },
    subsets: [{ addresses: ips.map(ip => ({ ip })), ports: [{ name: 'http', port: 8080 }] }],
  });
  const named = {
    ...endpoints(),
    subsets: [
      {
        addresses: [{ ip: '10.0.0.5' }],
        notReadyAddresses: [{ ip: '10.0.0.1', targetRef: { kind: 'Pod', name: 'p', namespace: 'default' } }],
        ports: [{ name: 'http', port: 8080 }],
      },
    ],
  };
  rows([
    ['the first endpoints: full', [web], says(endpoints('10.0.0.1')), `full endpoint ${WEB}`],
    [
      'one more: incremental',
      [web, endpoints('10.0.0.1')],
      says(endpoints('10.0.0.1', '10.0.0.2')),
      `incremental endpoint ${WEB}`,
    ],
    ['removed ones: incremental', [web, endpoints('10.0.0.1')], deletes(endpoints()), `incremental endpoint ${WEB}`],
    ['nothing beside a slice', [web, one], says(endpoints('10.0.0.3')), '-'],
    [
      'a pod with one of their addresses',
      [web, endpoints('10.0.0.1')],
      says(pod('p', '10.0.0.1')),
      `full endpoint ${WEB}`,
    ],
    ['a pod that it names', [web, named], says(pod('p', '10.0.0.1')), `full endpoint ${WEB}`],
    ['nothing for another pod', [web, endpoints('10.0.0.1')], says(pod('p', '10.0.0.9')), '-'],
  ]);
});

describe('a pod pushes:', () => {
  const named = slice('web', [{ ip: '10.0.0.1', pod: 'p' }]);
  const p = (rest: Parameters<typeof pod>[2] = {}, ip = '10.0.0.1'): JsonObject => pod('p', ip, rest);
  rows([
    ['a slice that waits for it: full', [web, named], says(p()), `full endpoint ${WEB}`],
    [
      'its endpoint with the health of the slice, if it is not ready',
      [web, named],
      says(p({ ready: false })),
      `full endpoint ${WEB}`,
    ],
    ['its labels: incremental', [web, named, p()], says(p({ labels: { v: '2' } })), `incremental endpoint ${WEB}`],
    ['nothing for its readiness, which the slice has', [web, named, p()], says(p({ ready: false })), '-'],
    ['its account: full', [web, named, p()], says(p({ account: 'new' })), `full endpoint ${WEB}`],
    [
      'its removed endpoint, which waits again, when it is deleted',
      [web, named, p()],
      deletes(p()),
      `full endpoint ${WEB}`,
    ],
    ['nothing if no slice names it', [web, one], says(pod('x', '10.0.0.5')), '-'],
    ['a slice with its address: incremental or full', [web, one], says(p()), `full endpoint ${WEB}`],
    [
      'both slices when it takes the address of another pod',
      [web, one, p({}, '10.0.0.9')],
      says(p()),
      `full endpoint ${WEB}`,
    ],
    ['nothing for a slice without a service', [withMeta(named, { labels: {} })], says(p()), '-'],
    ['nothing for one of another cluster', [web, named], says(p(), 'remote'), '-'],
  ]);
});

describe('the proxy in a pod pushes:', () => {
  const proxy = 'full proxy Pod/default/web-1';
  rows([
    ['its proxy when its pod is added', withProxy('web-1', '10.0.0.1', []), says(pod('web-1', '10.0.0.1')), proxy],
    [
      'its pod is labelled',
      withProxy('web-1', '10.0.0.1', [pod('web-1', '10.0.0.1')]),
      says(pod('web-1', '10.0.0.1', { labels: { v: '2' } })),
      proxy,
    ],
    [
      'its pod goes',
      withProxy('web-1', '10.0.0.1', [pod('web-1', '10.0.0.1')]),
      deletes(pod('web-1', '10.0.0.1')),
      proxy,
    ],
    ['nothing for another pod', withProxy('web-1', '10.0.0.1', []), says(pod('web-2', '10.0.0.2')), '-'],
  ]);
});

describe('a node pushes:', () => {
  const labels = { app: 'vm' };
  const onNode = pod('p', '10.0.0.1', { node: 'n', labels });
  const named = slice('web', [{ ip: '10.0.0.1', pod: 'p' }]);
  const selecting = serviceEntry('ext', { hosts: ['ext.com'], workloadSelector: { labels } });
  const zone = (name: string): JsonObject => node('n', 'r', name);
  const external = { ...node('n', 'r', 'z'), status: { addresses: [{ type: 'ExternalIP', address: '8.8.8.8' }] } };
  const elsewhere = { ...external, metadata: node('n', 's', 'z').metadata! };
  const nodePort = service(
    'gw',
    { type: 'NodePort', ports: [{ name: 'tls', port: 15_443, nodePort: 30_443 }] },
    {
      labels: { 'topology.istio.io/network': 'n2' },
      annotations: { 'traffic.istio.io/nodeSelector': '{"topology.kubernetes.io/region":"r"}' },
    },
  );
  rows([
    ['the locality of pods that precede it', [web, onNode, named], says(zone('z')), `incremental endpoint ${WEB}`],
    ['a changed zone', [web, onNode, named, zone('z')], says(zone('y')), `incremental endpoint ${WEB}`],
    [
      'the lost locality when it is deleted',
      [web, onNode, named, zone('z')],
      deletes(zone('z')),
      `incremental endpoint ${WEB}`,
    ],
    [
      'nothing for a label without topology',
      [web, onNode, named, zone('z')],
      says(withMeta(zone('z'), { labels: { ...ZONE(), a: 'b' } })),
      '-',
    ],
    ['nothing if no pod runs on it', [web, one], says(zone('z')), '-'],
    [
      'pods that a ServiceEntry selects',
      [selecting, onNode],
      says(zone('z')),
      `incremental endpoint ${entryKey('ext.com')}`,
    ],
    [
      'pods among too many that a ServiceEntry selects: all',
      [selecting, onNode, ...Array.from({ length: 101 }, (_, i) => pod(`q${i}`, `10.6.0.${i}`, { labels }))],
      says(zone('z')),
      `full endpoint+headlessendpoint ${entryKey('ext.com')}`,
    ],
    [
      'nothing for pods that it does not select',
      [serviceEntry('ext', { hosts: ['ext.com'], workloadSelector: { labels: { app: 'x' } } }), onNode],
      says(zone('z')),
      '-',
    ],
    ['the proxies on it', withProxy('p', '10.0.0.1', [onNode]), says(zone('z')), 'full proxy Node//n'],
    [
      'an address that leads to the gateway of a network: everything',
      [nodePort],
      says(external),
      'full forced networks',
    ],
    ['that address goes: everything', [nodePort, external], deletes(external), 'full forced networks'],
    ['nothing for an address in a region that the gateway leaves out', [nodePort], says(elsewhere), '-'],
    ['nothing for an address of a node without gateways', [web], says(external), '-'],
    [
      'nothing for another member of it',
      [nodePort, external],
      says(withMeta(external, { labels: { ...ZONE(), a: 'b' } })),
      '-',
    ],
    ['nothing for one of another cluster', [web, onNode, named], says(zone('z'), 'remote'), '-'],
  ]);
  function ZONE(): Record<string, string> {
    return { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'z' };
  }
});
