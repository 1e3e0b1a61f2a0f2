// References that lead nowhere are found, those that lead somewhere are not.

import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { danglingReferences } from '../../../../../src/core/select/scope/references.ts';
import { ask, inCluster, withObjects, world } from '../../../world.ts';
import {
  destinationRule,
  node,
  peerAuthentication,
  pod,
  service,
  serviceEntry,
  virtualService,
} from '../../registry/fixtures.ts';

const referring = `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: vs, namespace: prod }
spec:
  hosts: [a.com]
  gateways: [mesh, gw, other/gw]
  http:
    - route: [{ destination: { host: web, subset: v1 } }, { destination: { host: '*.wild.com' }, weight: 1 }]
      mirror: { host: gone.com }
    - delegate: { name: part }
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: dr, namespace: prod }
spec: { host: web.prod.svc.cluster.local }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: ap, namespace: prod }
spec: { targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: kgw }, { kind: Service, name: web }] }
`;

const referred = `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: gw, namespace: prod }
spec:
  servers:
    - port: { number: 443, name: https, protocol: HTTPS }
      hosts: ['*']
      tls: { mode: SIMPLE, credentialName: cert }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: kgw, namespace: prod }
spec: { gatewayClassName: mine, listeners: [{ name: http, port: 80, protocol: HTTP }] }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: prod }
spec: { clusterIP: 10.0.0.1, ports: [{ name: http, port: 80 }] }
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: dr, namespace: prod }
spec: { host: web, subsets: [{ name: v1, labels: { version: v1 } }] }
`;

test('references to absent objects are each reported with their path', () => {
  const found = ask(world([referring]), danglingReferences, '');
  expect(found.map(({ kind, key, path, missing }) => `${kind}/${key} ${path}: ${missing}`)).toEqual([
    'AuthorizationPolicy/prod/ap spec.targetRefs[0]: Gateway/prod/kgw',
    'AuthorizationPolicy/prod/ap spec.targetRefs[1]: host web.prod.svc.cluster.local',
    'DestinationRule/prod/dr spec.host: host web.prod.svc.cluster.local',
    'VirtualService/prod/vs spec.gateways[1]: Gateway/prod/gw',
    'VirtualService/prod/vs spec.gateways[2]: Gateway/other/gw',
    'VirtualService/prod/vs spec.http[0].route[0].destination: host web.prod.svc.cluster.local',
    'VirtualService/prod/vs spec.http[0].mirror: host gone.com',
    'VirtualService/prod/vs spec.http[1].delegate: VirtualService/prod/part',
  ]);
});

test('references to existing objects are not reported', () => {
  const found = ask(withObjects(world([referring]), referred), danglingReferences, '');
  expect(found.map(({ path, missing }) => `${path}: ${missing}`)).toEqual([
    'spec.servers[0].tls.credentialName: Secret/prod/cert',
    'spec.gatewayClassName: GatewayClass/mine',
    'spec.gateways[2]: Gateway/other/gw',
    'spec.http[0].mirror: host gone.com',
    'spec.http[1].delegate: VirtualService/prod/part',
  ]);
});

test('references to a subset that the service does not have are reported', () => {
  const [service] = referred.split('---').filter(text => text.includes('kind: Service'));
  const found = ask(withObjects(world([referring]), service ?? ''), danglingReferences, '');
  expect(found.map(({ missing }) => missing)).toContain('subset v1 of web.prod.svc.cluster.local');
});

test('a subset is one of the rules for its host alone', () => {
  const rules = (host: string, ...subsets: readonly string[]) =>
    destinationRule(`${subsets.join('-')}-of-${host}`, host, {
      subsets: subsets.map(name => ({ name, labels: { version: name } })),
    });
  const named = (...rulesOfIt: readonly JsonObject[]) => {
    const destination = { host: 'web', subset: 'v1' };
    const route = virtualService('vs', { hosts: ['a.com'], http: [{ route: [{ destination }] }] });
    const found = ask(world([service('web'), service('db'), route, ...rulesOfIt]), danglingReferences, '');
    return found.filter(({ kind }) => kind === 'VirtualService').map(({ missing }) => missing);
  };
  const missing = ['subset v1 of web.default.svc.cluster.local'];
  expect(named(rules('db', 'v1'), rules('web', 'v2'))).toEqual(missing);
  expect(named(destinationRule('none', 'web'))).toEqual(missing);
  expect(named(rules('web', 'v2'), rules('web', 'v3', 'v1'), rules('db', 'v4'))).toEqual([]);
});

test('a selector names its labels by key, and where they were looked for', () => {
  const found = (scope: string, ...pods: readonly JsonObject[]) => {
    const policy = peerAuthentication('p', { selector: { matchLabels: { b: '2', a: '1' } } }, { namespace: scope });
    return ask(world([policy, ...pods]), danglingReferences, '').map(({ missing, workload }) => ({
      missing,
      workload,
    }));
  };
  const podOf = (labels: Readonly<Record<string, string>>, name = 'x') =>
    pod(name, '10.0.0.1', { namespace: 'prod', labels });
  const labels = { a: '1', b: '2' };
  const missing = 'workload with a=1,b=2';
  expect(found('prod', podOf({ a: '1' }))).toEqual([{ missing, workload: { labels, namespace: 'prod' } }]);
  expect(found('istio-system', podOf({ a: '1' }))).toEqual([{ missing, workload: { labels, namespace: undefined } }]);
  expect(found('prod', podOf({ a: '1' }), podOf(labels, 'y'))).toEqual([]);
});

test('selectors of kinds that are no policies look into their own namespace, also in the root namespace', () => {
  const entry = serviceEntry(
    'a',
    { hosts: ['a.com'], workloadSelector: { labels: { app: 'web' } } },
    { namespace: 'istio-system' },
  );
  const there = pod('w', '10.0.0.2', { namespace: 'prod', labels: { app: 'web' } });
  expect(ask(world([entry, there]), danglingReferences, '').map(({ missing }) => missing)).toEqual([
    'workload with app=web',
  ]);
});

test('a node is missing only from a cluster that delivers nodes, a Service only from the whole mesh', () => {
  const onNode = pod('p', '10.0.0.2', { node: 'n' });
  const missing = (...parts: Parameters<typeof world>[0]) =>
    ask(world(parts), danglingReferences, '').map(one => one.missing);
  expect(missing(node('other', 'r', 'z'), onNode)).toEqual(['Node/n']);
  expect(missing(node('other', 'r', 'z'), inCluster('remote', onNode))).toEqual([]);
  expect(missing(node('n', 'r', 'z'), inCluster('remote', onNode, node('other', 'r', 'z')))).toEqual(['Node/n']);
  const exported = {
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ServiceExport',
    metadata: { name: 'web', namespace: 'default' },
  };
  expect(missing(exported, inCluster('remote', service('web')))).toEqual(['Service/default/web']);
  const backend = { backendRefs: [{ name: 'web', port: 80 }] };
  const route = {
    apiVersion: 'gateway.networking.k8s.io/v1alpha2',
    kind: 'TCPRoute',
    metadata: { name: 'r', namespace: 'default' },
    spec: { rules: [backend] },
  };
  expect(missing(route, inCluster('remote', service('web')))).toEqual([]);
  expect(missing(route)).toEqual(['Service/default/web']);
});
