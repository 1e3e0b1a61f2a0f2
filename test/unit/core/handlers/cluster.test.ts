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
  rows([
    ['one comes', [service('web')], says(namespace('default')), '-'],
    [
      'a label of somebody else',
      [service('web'), namespace('default')],
      says(namespace('default', { labels: { a: 'b' } })),
      '-',
    ],
    ['the network of a cluster: everything', [], says(namespace('istio-system', network)), 'full forced networks'],
    [
      'that network goes: everything',
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
    ['a network elsewhere: nothing', [], says(namespace('default', network)), '-'],
    [
      'the traffic distribution of its services',
      [service('web')],
      says(namespace('default', closer)),
      `full service ${WEB}`,
    ],
    [
      'it goes again',
      [service('web'), namespace('default', closer)],
      deletes(namespace('default')),
      `full service ${WEB}`,
    ],
    [
      'of a service that has its own: nothing',
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
    ['of another namespace: nothing', [service('web'), ext], says(namespace('prod', closer)), '-'],
    ['of another cluster: its services', [service('web')], says(namespace('default', closer), 'remote'), '-'],
    [
      'discovered now: everything',
      world([service('web')], selective),
      says(namespace('default', on)),
      'full forced global',
    ],
    [
      'discovered no more: everything',
      world([namespace('default', on)], selective),
      says(namespace('default')),
      'full forced global',
    ],
    [
      'discovered no more, for it goes: everything',
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
    ['not discovered: nothing', world([], selective), says(namespace('default', { labels: { mesh: 'off' } })), '-'],
    [
      'discovered as before: nothing',
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
    ['a Secret comes', [], says(opaque('YQ==')), SECRET],
    ['another value', [opaque('YQ==')], says(opaque('Yg==')), SECRET],
    ['the same value: nothing', [opaque('YQ==')], says(opaque('YQ==')), '-'],
    ['it goes', [opaque('YQ==')], deletes(opaque('')), SECRET],
    ['of any cluster', [], says(opaque('YQ=='), 'remote'), SECRET],
    ['the token of an account: nothing', [], says(token), '-'],
    ['a release of Helm: nothing', [], says(of('Secret', { type: 'helm.sh/release.v1', data: {} })), '-'],
    ['a Secret that becomes a token', [opaque('YQ==')], says(token), SECRET],
    ['a ConfigMap with a CA', [], says(ca), MAP],
    ['with one by the other name', [], says(of('ConfigMap', { data: { cacert: 'PEM' } })), MAP],
    ['without: nothing', [], says(plain), '-'],
    ['its CA goes', [ca], says(plain), MAP],
    ['of another cluster: nothing', [], says(ca, 'remote'), '-'],
  ]);
});

describe('an event of a kind without effect pushes:', () => {
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
    ['a kind that nobody knows', [], says(wide('example.com/v1', 'Ghost')), '-'],
  ]);
});
