// References that lead nowhere are found, those that lead somewhere are not.

import { expect, test } from 'vitest';
import { danglingReferences } from '../../../../../src/core/select/scope/references.ts';
import { ask, withObjects, world } from '../../../world.ts';

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
