// References that lead nowhere are found, those that lead somewhere are not.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import type { KindName } from '../../../src/core/kinds/kinds.ts';
import { danglingReferences } from '../../../src/core/select/references.ts';
import { withSpec } from '../core/kinds/verdict.ts';
import { node, pod, serviceEntry, workloadEntry } from '../registry/fixtures.ts';
import { ask, withObjects, world } from '../world.ts';

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

test('given nothing that is referred to, then each reference is named with its path', () => {
  const found = ask(world([referring]), danglingReferences, '');
  expect(found.map(({ kind, key, path, missing }) => `${kind}/${key} ${path}: ${missing}`)).toEqual([
    'AuthorizationPolicy/prod/ap spec.targetRefs[0]: KubernetesGateway/prod/kgw',
    'AuthorizationPolicy/prod/ap spec.targetRefs[1]: host web.prod.svc.cluster.local',
    'DestinationRule/prod/dr spec.host: host web.prod.svc.cluster.local',
    'VirtualService/prod/vs spec.gateways[1]: Gateway/prod/gw',
    'VirtualService/prod/vs spec.gateways[2]: Gateway/other/gw',
    'VirtualService/prod/vs spec.http[0].route[0].destination: host web.prod.svc.cluster.local',
    'VirtualService/prod/vs spec.http[0].mirror: host gone.com',
    'VirtualService/prod/vs spec.http[1].delegate: VirtualService/prod/part',
  ]);
});

test('given some of it, then only the rest is named', () => {
  const found = ask(withObjects(world([referring]), referred), danglingReferences, '');
  expect(found.map(({ path, missing }) => `${path}: ${missing}`)).toEqual([
    'spec.servers[0].tls.credentialName: Secret/prod/cert',
    'spec.gateways[2]: Gateway/other/gw',
    'spec.http[0].mirror: host gone.com',
    'spec.http[1].delegate: VirtualService/prod/part',
  ]);
});

test('given a service without the subset, then the subset is missing', () => {
  const [service] = referred.split('---').filter(text => text.includes('kind: Service'));
  const found = ask(withObjects(world([referring]), service ?? ''), danglingReferences, '');
  expect(found.map(({ missing }) => missing)).toContain('subset v1 of web.prod.svc.cluster.local');
});

describe('every kind that refers', () => {
  const of = (kind: KindName, spec: JsonObject, rest: JsonObject = {}): JsonObject => ({
    ...withSpec(kind, spec),
    ...rest,
  });
  const meta = (more: JsonObject): JsonObject => ({ metadata: { name: 'a', namespace: 'prod', ...more } });
  const podX = pod('x', '10.0.0.1', { namespace: 'prod', labels: { app: 'x' } });
  const selector = { matchLabels: { app: 'web' } };
  const missing = 'workload with app=web';
  const slice = {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.2'], targetRef: { kind: 'Pod', name: 'p' } }, { addresses: ['10.0.0.3'] }],
    ports: [{ port: 80 }],
  };
  const ref = (name: string, more: JsonObject = {}): JsonObject => ({ name, ...more });
  test.each<[string, readonly JsonObject[], readonly string[]]>([
    ['a policy selects nothing', [podX, of('PeerAuthentication', { selector })], [`spec.selector: ${missing}`]],
    [
      'a policy of the root namespace selects everywhere',
      [
        pod('w', '10.0.0.2', { namespace: 'prod', labels: { app: 'web' } }),
        of('PeerAuthentication', { selector }, meta({ namespace: 'istio-system' })),
      ],
      [],
    ],
    [
      'a policy of another namespace does not',
      [pod('w', '10.0.0.2', { namespace: 'test', labels: { app: 'web' } }), of('PeerAuthentication', { selector })],
      [`spec.selector: ${missing}`],
    ],
    [
      'a WorkloadEntry is a workload',
      [
        workloadEntry('w', { address: '1.1.1.1', labels: { app: 'web' } }, { namespace: 'prod' }),
        of('PeerAuthentication', { selector }),
      ],
      [],
    ],
    ['where no workload is known nothing is said', [of('PeerAuthentication', { selector })], []],
    ['ProxyConfig', [podX, of('ProxyConfig', { selector })], [`spec.selector: ${missing}`]],
    [
      'EnvoyFilter',
      [podX, of('EnvoyFilter', { workloadSelector: { labels: { app: 'web' } } })],
      [`spec.workloadSelector: ${missing}`],
    ],
    [
      'AuthorizationPolicy',
      [of('AuthorizationPolicy', { action: 'CUSTOM', provider: { name: 'ext' }, rules: [{}] })],
      ['spec.provider: extension provider ext'],
    ],
    [
      'Telemetry',
      [
        of('Telemetry', {
          tracing: [{ providers: [{ name: 'zip' }] }],
          metrics: [{ providers: [{ name: 'prometheus' }] }],
          accessLogging: [{ providers: [{ name: 'als' }] }],
        }),
      ],
      [
        'spec.tracing[0].providers[0]: extension provider zip',
        'spec.accessLogging[0].providers[0]: extension provider als',
      ],
    ],
    [
      'WasmPlugin',
      [of('WasmPlugin', { url: 'oci://a/b', imagePullSecret: 's' })],
      ['spec.imagePullSecret: Secret/prod/s'],
    ],
    [
      'TrafficExtension',
      [of('TrafficExtension', { wasm: { url: 'oci://a/b', imagePullSecret: 's' } })],
      ['spec.wasm.imagePullSecret: Secret/prod/s'],
    ],
    [
      'Gateway: workloads anywhere',
      [
        pod('w', '10.0.0.2', { namespace: 'test', labels: { istio: 'gw' } }),
        of('Gateway', {
          selector: { istio: 'gw' },
          servers: [{ port: { number: 80, name: 'a', protocol: 'HTTP' }, hosts: ['*'] }],
        }),
      ],
      [],
    ],
    [
      'Gateway',
      [
        podX,
        of('Gateway', {
          selector: { istio: 'gw' },
          servers: [
            {
              port: { number: 443, name: 'a', protocol: 'HTTPS' },
              hosts: ['*'],
              tls: { mode: 'SIMPLE', credentialNames: ['a', 'kubernetes://b'] },
            },
          ],
        }),
      ],
      ['spec.selector: workload with istio=gw', 'spec.servers[0].tls.credentialNames[0]: Secret/prod/a'],
    ],
    [
      'DestinationRule',
      [
        podX,
        of('DestinationRule', {
          host: 'web',
          workloadSelector: selector,
          trafficPolicy: { tls: { mode: 'SIMPLE', credentialName: 'c' } },
          subsets: [
            {
              name: 's',
              labels: { a: 'b' },
              trafficPolicy: {
                portLevelSettings: [{ port: { number: 80 }, tls: { mode: 'SIMPLE', credentialName: 'd' } }],
              },
            },
          ],
        }),
      ],
      [
        'spec.host: host web.prod.svc.cluster.local',
        'spec.trafficPolicy.tls.credentialName: Secret/prod/c',
        'spec.subsets[0].trafficPolicy.portLevelSettings[0].tls.credentialName: Secret/prod/d',
        `spec.workloadSelector: ${missing}`,
      ],
    ],
    [
      'Sidecar',
      [
        podX,
        of('Sidecar', {
          workloadSelector: { labels: { app: 'web' } },
          egress: [{ hosts: ['./web.com', '*/api.com', 'prod/*', '*/*.com'] }],
          outboundTrafficPolicy: { mode: 'ALLOW_ANY', egressProxy: { host: 'proxy', port: { number: 80 } } },
        }),
      ],
      [
        `spec.workloadSelector: ${missing}`,
        'spec.egress[0].hosts[0]: host web.com',
        'spec.egress[0].hosts[1]: host api.com',
        'spec.outboundTrafficPolicy.egressProxy: host proxy.prod.svc.cluster.local',
      ],
    ],
    [
      'ServiceEntry',
      [
        podX,
        serviceAccount('b'),
        serviceEntry('a', { hosts: ['a.com'], workloadSelector: { labels: { app: 'web' } } }, { namespace: 'prod' }),
        serviceEntry(
          'c',
          { hosts: ['c.com'], endpoints: [{ address: '1.1.1.1', serviceAccount: 'robot' }] },
          { namespace: 'prod' },
        ),
      ],
      [
        'spec.serviceAccountName: ServiceAccount/prod/default',
        `spec.workloadSelector: ${missing}`,
        'spec.endpoints[0].serviceAccount: ServiceAccount/prod/robot',
      ],
    ],
    [
      'WorkloadEntry',
      [
        serviceAccount('b'),
        workloadEntry(
          'a',
          { address: '1.1.1.1', serviceAccount: 'robot' },
          { namespace: 'prod', annotations: { 'istio.io/autoRegistrationGroup': 'g' } },
        ),
      ],
      [
        'spec.serviceAccount: ServiceAccount/prod/robot',
        'metadata.annotations[istio.io/autoRegistrationGroup]: WorkloadGroup/prod/g',
      ],
    ],
    [
      'WorkloadGroup',
      [serviceAccount('b'), of('WorkloadGroup', { template: { serviceAccount: 'robot' } })],
      ['spec.template.serviceAccount: ServiceAccount/prod/robot'],
    ],
    ['where no account is known nothing is said', [of('WorkloadGroup', { template: { serviceAccount: 'robot' } })], []],
    [
      'EndpointSlice',
      [{ ...of('EndpointSlice', {}, meta({ labels: { 'kubernetes.io/service-name': 'web' } })), ...slice }],
      ['metadata.labels[kubernetes.io/service-name]: Service/prod/web', 'endpoints[0].targetRef: Pod/prod/p'],
    ],
    [
      'Endpoints',
      [
        {
          ...of('Endpoints', {}),
          subsets: [{ addresses: [{ ip: '10.0.0.2', targetRef: { kind: 'Pod', name: 'p' } }], ports: [{ port: 80 }] }],
        },
      ],
      ['metadata.name: Service/prod/a', 'subsets[0].addresses[0].targetRef: Pod/prod/p'],
    ],
    ['Pod', [node('other', 'r', 'z'), pod('p', '10.0.0.2', { node: 'n' })], ['spec.nodeName: Node/n']],
    [
      'Service',
      [podX, of('Service', { selector: { app: 'web' }, ports: [{ port: 80 }] })],
      [`spec.selector: ${missing}`],
    ],
    [
      'Service: an alias',
      [of('Service', { type: 'ExternalName', externalName: 'b.prod.svc.cluster.local' })],
      ['spec.externalName: host b.prod.svc.cluster.local'],
    ],
    ['Service: a name outside', [of('Service', { type: 'ExternalName', externalName: 'example.com' })], []],
    ['ServiceExport', [of('ServiceExport', {})], ['metadata.name: Service/prod/a']],
    [
      'Gateway API: Gateway',
      [
        of('KubernetesGateway', {
          gatewayClassName: 'istio',
          listeners: [
            {
              name: 'a',
              port: 443,
              protocol: 'HTTPS',
              tls: { certificateRefs: [ref('c'), ref('m', { kind: 'ConfigMap', namespace: 'test' })] },
            },
          ],
        }),
      ],
      [
        'spec.gatewayClassName: GatewayClass/istio',
        'spec.listeners[0].tls.certificateRefs[0]: Secret/prod/c',
        'spec.listeners[0].tls.certificateRefs[1]: ConfigMap/test/m',
      ],
    ],
    [
      'Gateway API: route',
      [
        of('HTTPRoute', {
          parentRefs: [ref('gw'), ref('l', { kind: 'ListenerSet' }), ref('x', { group: 'x.io', kind: 'X' })],
          rules: [
            {
              backendRefs: [
                ref('web', { port: 80 }),
                ref('pool', { group: 'inference.networking.k8s.io', kind: 'InferencePool' }),
              ],
            },
          ],
        }),
      ],
      [
        'spec.parentRefs[0]: KubernetesGateway/prod/gw',
        'spec.parentRefs[1]: ListenerSet/prod/l',
        'spec.rules[0].backendRefs[0]: Service/prod/web',
        'spec.rules[0].backendRefs[1]: InferencePool/prod/pool',
      ],
    ],
    [
      'Gateway API: a service of any cluster is one',
      [
        of('TCPRoute', { rules: [{ backendRefs: [ref('a', { port: 80 })] }] }),
        of('Service', { ports: [{ port: 80 }] }),
      ],
      [],
    ],
    [
      'Gateway API: ListenerSet',
      [of('ListenerSet', { parentRef: ref('gw'), listeners: [] })],
      ['spec.parentRef: KubernetesGateway/prod/gw'],
    ],
    [
      'Gateway API: GatewayClass',
      [
        of(
          'GatewayClass',
          { controllerName: 'x', parametersRef: { group: '', kind: 'ConfigMap', name: 'c', namespace: 'prod' } },
          { metadata: { name: 'a' } },
        ),
      ],
      ['spec.parametersRef: ConfigMap/prod/c'],
    ],
    [
      'Gateway API: ReferenceGrant',
      [
        of('ReferenceGrant', {
          to: [
            { group: '', kind: 'Secret', name: 's' },
            { group: '', kind: 'Service' },
          ],
        }),
      ],
      ['spec.to[0]: Secret/prod/s'],
    ],
    [
      'Gateway API: BackendTLSPolicy',
      [
        of('BackendTLSPolicy', {
          targetRefs: [ref('web', { group: '', kind: 'Service' })],
          validation: { hostname: 'a', caCertificateRefs: [ref('ca', { group: '', kind: 'ConfigMap' })] },
        }),
      ],
      ['spec.targetRefs[0]: Service/prod/web', 'spec.validation.caCertificateRefs[0]: ConfigMap/prod/ca'],
    ],
    [
      'Gateway API: InferencePool',
      [of('InferencePool', { endpointPickerRef: ref('picker') })],
      ['spec.endpointPickerRef: Service/prod/picker'],
    ],
    [
      'Ingress',
      [
        of('Ingress', {
          ingressClassName: 'istio',
          defaultBackend: { service: { name: 'd' } },
          rules: [{ http: { paths: [{ backend: { service: { name: 'w' } } }] } }],
          tls: [{ secretName: 's' }],
        }),
      ],
      [
        'spec.ingressClassName: IngressClass/istio',
        'spec.defaultBackend: Service/prod/d',
        'spec.rules[0].http.paths[0].backend: Service/prod/w',
        'spec.tls[0].secretName: Secret/prod/s',
      ],
    ],
  ])('%s', (_, objects, expected) => {
    const found = ask(world(objects), danglingReferences, '');
    expect(found.map(one => `${one.path}: ${one.missing}`)).toEqual(expected);
  });
  function serviceAccount(name: string): JsonObject {
    return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'prod' } };
  }
});

test('a class of the cluster is found by its name alone', () => {
  const gateway = withSpec('KubernetesGateway', { gatewayClassName: 'istio' });
  const gatewayClass = { ...withSpec('GatewayClass', { controllerName: 'x' }), metadata: { name: 'istio' } };
  expect(ask(world([gateway, gatewayClass]), danglingReferences, '')).toEqual([]);
});
