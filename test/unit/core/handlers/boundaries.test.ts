// Which object of several decides: by namespace, by cluster, by registry, and where one of many is enough.
// Sources: Istio pilot/pkg/model/endpointshards.go (UpdateServiceEndpoints),
// pilot/pkg/serviceregistry/kube/controller/namespace.go, pkg/revisions/tag_watcher.go.

import { describe } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { inCluster } from '../../world.ts';
import { namespace, pod, service, serviceEntry, slice } from '../registry/fixtures.ts';
import { entryKey, rows, says, serviceKey } from './rows.ts';

const WEB = serviceKey('web');
const HOST = 'web.default.svc.cluster.local';

describe('endpoints of one host in several namespaces push:', () => {
  const entry = (address: string, resolution: string, space = 'default', name = 'ext'): JsonObject =>
    serviceEntry(name, { hosts: ['ext.com'], resolution, endpoints: [{ address }] }, { namespace: space });
  const inProd = { namespace: 'prod', labels: { app: 'x' } };
  const selecting = (resolution: string): JsonObject =>
    serviceEntry(
      'web',
      { hosts: [HOST], resolution, workloadSelector: { labels: { app: 'x' } } },
      { namespace: 'prod' },
    );
  const first = pod('p', '10.0.1.1', inProd);
  rows([
    [
      'incrementally, if proxies resolve only the names of another namespace',
      [entry('1.1.1.1', 'STATIC'), entry('a.com', 'DNS', 'prod')],
      says(entry('2.2.2.2', 'STATIC')),
      `incremental endpoint ${entryKey('ext.com')}`,
    ],
    [
      'fully, if proxies resolve the names of one service of the namespace',
      [entry('1.1.1.1', 'STATIC'), entry('a.com', 'DNS', 'default', 'second')],
      says(entry('2.2.2.2', 'STATIC')),
      `full endpoint ${entryKey('ext.com')}`,
    ],
    [
      'incrementally beside a headless service without selector of another namespace',
      [service('web', { clusterIP: 'None', selector: {} }), selecting('STATIC'), first],
      says(pod('q', '10.0.1.2', inProd)),
      `incremental endpoint ${entryKey(HOST, 'prod')}`,
    ],
    [
      'no headless listeners of a ServiceEntry that passes connections through',
      [selecting('NONE'), first],
      says(pod('q', '10.0.1.2', inProd)),
      `incremental endpoint ${entryKey(HOST, 'prod')}`,
    ],
  ]);
});

describe('endpoints of a service without selector push:', () => {
  const of = (...ips: readonly string[]): JsonObject =>
    slice('web', [{ ip: '10.0.0.1', pod: 'p' }, ...ips.map(ip => ({ ip }))]);
  rows([
    [
      'fully, if one of them is a pod',
      [service('web', { selector: {} }), pod('p', '10.0.0.1'), of('10.0.0.2')],
      says(of('10.0.0.2', '10.0.0.3')),
      `full endpoint ${WEB}`,
    ],
  ]);
});

describe('an Endpoints object that names a pod by another address pushes:', () => {
  const named: JsonObject = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', namespace: 'default' },
    subsets: [
      {
        addresses: [{ ip: '10.0.0.1', targetRef: { kind: 'Pod', name: 'p', namespace: 'default' } }],
        ports: [{ name: 'http', port: 8080 }],
      },
    ],
  };
  rows([
    ['the endpoint of that pod', [service('web'), named], says(pod('p', '10.0.0.77')), `full endpoint ${WEB}`],
    ['nothing for a pod of another name', [service('web'), named], says(pod('q', '10.0.0.77')), '-'],
  ]);
});

describe('a ConfigMap of a remote cluster pushes:', () => {
  const map = (name: string, space: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: space },
    data: { mesh: 'trustDomain: a' },
  });
  rows([
    [
      'nothing, if it has another name than the mesh configuration',
      [],
      says(map('other', 'istio-system'), 'remote'),
      '-',
    ],
    ['nothing, if it is in another namespace', [], says(map('istio', 'default'), 'remote'), '-'],
    ['nothing as a fact of the own cluster', [], says(map('istio', 'istio-system')), '-'],
  ]);
});

describe('labels of a namespace push:', () => {
  const listener = (name: string, from: string): JsonObject => ({
    name,
    port: name === 'a' ? 80 : 81,
    protocol: 'HTTP',
    allowedRoutes: { namespaces: { from, ...(from === 'Selector' ? { selector: {} } : {}) } },
  });
  const of = (kind: string, spec: JsonObject): JsonObject => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind,
    metadata: { name: 'g', namespace: 'default' },
    spec: { ...spec, listeners: [listener('a', 'Same'), listener('b', 'Selector')] },
  });
  const labelled = says(namespace('default', { labels: { a: 'b' } }));
  rows([
    [
      'a configuration if one of several listeners selects by them',
      [of('Gateway', { gatewayClassName: 'istio' })],
      labelled,
      'full config Namespace//default',
    ],
    [
      'a configuration if one of several listeners of a set selects by them',
      [of('ListenerSet', { parentRef: { name: 'g' } })],
      labelled,
      'full config Namespace//default',
    ],
  ]);
});

describe('a revision tag pushes:', () => {
  const tagged = (tag: string): JsonObject => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 't', labels: { 'istio.io/rev': 'default', 'istio.io/tag': tag } },
    webhooks: [],
  });
  rows([['everything when it has another name', [tagged('prod')], says(tagged('canary')), 'full forced tag']]);
});

describe('a pod of a remote cluster pushes:', () => {
  const endpoints: JsonObject = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', namespace: 'default' },
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'http', port: 8080 }] }],
  };
  rows([
    [
      'its own endpoint, not one of the same address elsewhere',
      [service('web'), endpoints, inCluster('remote', service('web'))],
      says(pod('p', '10.0.0.1'), 'remote'),
      '-',
    ],
  ]);
});
