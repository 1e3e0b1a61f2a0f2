// Namespaces, Secrets and ConfigMaps, and the kinds that push nothing.

import { describe } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { world } from '../../world.ts';
import { namespace, service, serviceEntry } from '../registry/fixtures.ts';
import { deletes, entryKey, rows, says, serviceKey } from './rows.ts';

const WEB = serviceKey('web');

describe('a namespace event pushes:', () => {
  const network = { labels: { 'topology.istio.io/network': 'n' } };
  const closer = { annotations: { 'networking.istio.io/traffic-distribution': 'PreferClose' } };
  const selective = { mesh: { discoverySelectors: [{ matchLabels: { mesh: 'on' } }] } };
  const on = { labels: { mesh: 'on' } };
  const ext = serviceEntry('ext', { hosts: ['ext.com'], resolution: 'STATIC' });
  const takes = (from: string): JsonObject => ({
    namespaces: { from, ...(from === 'Selector' ? { selector: {} } : {}) },
  });
  const listener = (from: string): JsonObject => ({
    name: 'http',
    port: 80,
    protocol: 'HTTP',
    allowedRoutes: takes(from),
  });
  const entrance = (kind: string, spec: JsonObject): JsonObject => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind,
    metadata: { name: 'g', namespace: 'default' },
    spec,
  });
  const gateway = (from: string, more: JsonObject = {}): JsonObject =>
    entrance('Gateway', { gatewayClassName: 'istio', listeners: [listener(from)], ...more });
  const listeners = (from: string): JsonObject =>
    entrance('ListenerSet', { parentRef: { name: 'g' }, listeners: [listener(from)] });
  const labelled = says(namespace('default', { labels: { a: 'b' } }));
  rows([
    ['nothing for a new namespace', [service('web')], says(namespace('default')), '-'],
    [
      'an unrelated label: nothing',
      [service('web'), namespace('default')],
      says(namespace('default', { labels: { a: 'b' } })),
      '-',
    ],
    ['labels that no listener selects by: nothing', [gateway('Same'), listeners('All')], labelled, '-'],
    [
      'labels that a listener of a Gateway may select by',
      [gateway('Selector')],
      labelled,
      'full config Namespace//default',
    ],
    [
      'labels that a Gateway may select ListenerSets by',
      [gateway('Same', { allowedListeners: takes('Selector') })],
      labelled,
      'full config Namespace//default',
    ],
    [
      'labels that a listener of a ListenerSet may select by',
      [gateway('Same'), listeners('Selector')],
      labelled,
      'full config Namespace//default',
    ],
    ['the network of a cluster: everything', [], says(namespace('istio-system', network)), 'full forced networks'],
    [
      'a removed network label: everything',
      [namespace('istio-system', network)],
      deletes(namespace('istio-system')),
      'full forced networks',
    ],
    [
      'the same network: nothing',
      [namespace('istio-system', network)],
      says(namespace('istio-system', { ...network, ...closer })),
      '-',
    ],
    ['a network label on another namespace: nothing', [], says(namespace('default', network)), '-'],
    [
      'the traffic distribution of its services',
      [service('web')],
      says(namespace('default', closer)),
      `full service ${WEB}`,
    ],
    [
      'the removed traffic distribution of its services',
      [service('web'), namespace('default', closer)],
      deletes(namespace('default')),
      `full service ${WEB}`,
    ],
    [
      'its traffic distribution, where the service has its own: nothing',
      [service('web', { trafficDistribution: 'PreferSameNode' })],
      says(namespace('default', closer)),
      '-',
    ],
    [
      'the traffic distribution of its ServiceEntries',
      [ext],
      says(namespace('default', closer)),
      `full service ${entryKey('ext.com')}`,
    ],
    [
      'the traffic distribution of another namespace: nothing',
      [service('web'), ext],
      says(namespace('prod', closer)),
      '-',
    ],
    [
      'the traffic distribution in another cluster: nothing',
      [service('web')],
      says(namespace('default', closer), 'remote'),
      '-',
    ],
    [
      'a namespace that becomes discovered: everything',
      world([service('web')], selective),
      says(namespace('default', on)),
      'full forced global',
    ],
    [
      'a namespace no longer discovered: everything',
      world([namespace('default', on)], selective),
      says(namespace('default')),
      'full forced global',
    ],
    [
      'a deleted discovered namespace: everything',
      world([namespace('default', on)], selective),
      deletes(namespace('default')),
      'full forced global',
    ],
    [
      'an annotation of Istio that services do not read',
      [service('web'), ext],
      says(namespace('default', { annotations: { 'a.istio.io/b': '1' } })),
      '-',
    ],
    [
      'a namespace not discovered: nothing',
      world([], selective),
      says(namespace('default', { labels: { mesh: 'off' } })),
      '-',
    ],
    [
      'a namespace discovered as before: nothing',
      world([namespace('default', on)], selective),
      says(namespace('default', { labels: { mesh: 'on', a: 'b' } })),
      '-',
    ],
  ]);
});

describe('an event of a Secret or ConfigMap pushes:', () => {
  const of = (kind: string, rest: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name: 's', namespace: 'default' },
    ...rest,
  });
  const opaque = (value: string): JsonObject => of('Secret', { type: 'Opaque', data: { a: value } });
  const token = of('Secret', { type: 'kubernetes.io/service-account-token', data: {} });
  const ca = of('ConfigMap', { data: { 'ca.crt': 'PEM' } });
  const plain = of('ConfigMap', { data: { a: 'b' } });
  const SECRET = 'incremental secret Secret/default/s';
  const MAP = 'incremental secret ConfigMap/default/s';
  rows([
    ['a new Secret', [], says(opaque('YQ==')), SECRET],
    ['a changed value', [opaque('YQ==')], says(opaque('Yg==')), SECRET],
    ['the same value: nothing', [opaque('YQ==')], says(opaque('YQ==')), '-'],
    ['a deleted Secret', [opaque('YQ==')], deletes(opaque('')), SECRET],
    ['a Secret of any cluster', [], says(opaque('YQ=='), 'remote'), SECRET],
    ['the token of a service account: nothing', [], says(token), '-'],
    ['a release of Helm: nothing', [], says(of('Secret', { type: 'helm.sh/release.v1', data: {} })), '-'],
    ['a Secret that becomes a token', [opaque('YQ==')], says(token), SECRET],
    ['a ConfigMap with a CA', [], says(ca), MAP],
    ['a ConfigMap with a CA by the other name', [], says(of('ConfigMap', { data: { cacert: 'PEM' } })), MAP],
    ['a ConfigMap without a CA: nothing', [], says(plain), '-'],
    ['a removed CA', [ca], says(plain), MAP],
    ['a ConfigMap of another cluster: nothing', [], says(ca, 'remote'), '-'],
    [
      'the mesh configuration of another cluster, which has its trust domain',
      [],
      says({ ...plain, metadata: { name: 'istio', namespace: 'istio-system' } }, 'remote'),
      'full forced global ConfigMap/istio-system/istio',
    ],
  ]);
});

describe('an event of a kind without effect pushes nothing:', () => {
  const apps = (kind: string): JsonObject => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'a', namespace: 'default' },
  });
  const wide = (apiVersion: string, kind: string): JsonObject => ({ apiVersion, kind, metadata: { name: 'a' } });
  rows([
    ['Deployment', [], says(apps('Deployment')), '-'],
    ['DaemonSet', [], says(apps('DaemonSet')), '-'],
    ['StatefulSet', [], says(apps('StatefulSet')), '-'],
    ['HorizontalPodAutoscaler', [], says(wide('autoscaling/v2', 'HorizontalPodAutoscaler')), '-'],
    ['PodDisruptionBudget', [], says(wide('policy/v1', 'PodDisruptionBudget')), '-'],
    ['Lease', [], says(wide('coordination.k8s.io/v1', 'Lease')), '-'],
    ['ServiceAccount', [], says(wide('v1', 'ServiceAccount')), '-'],
    ['CertificateSigningRequest', [], says(wide('certificates.k8s.io/v1', 'CertificateSigningRequest')), '-'],
    ['ClusterTrustBundle', [], says(wide('certificates.k8s.io/v1beta1', 'ClusterTrustBundle')), '-'],
    ['CustomResourceDefinition', [], says(wide('apiextensions.k8s.io/v1', 'CustomResourceDefinition')), '-'],
    ['an unknown kind', [], says(wide('example.com/v1', 'Ghost')), '-'],
  ]);
});
