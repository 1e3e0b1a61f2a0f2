// What the kinds of Kubernetes and of the Gateway API refer to, row by row.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { KindName } from '../../../../../src/core/model/kind.ts';
import { danglingReferences } from '../../../../../src/core/select/scope/references.ts';
import { ask, world } from '../../../world.ts';
import { withSpec } from '../../kinds/verdict.ts';
import { node, pod } from '../../registry/fixtures.ts';

describe('the references of other kinds include', () => {
  const of = (kind: KindName, spec: JsonObject, rest: JsonObject = {}): JsonObject => ({
    ...withSpec(kind, spec),
    ...rest,
  });
  const meta = (more: JsonObject): JsonObject => ({ metadata: { name: 'a', namespace: 'prod', ...more } });
  const podX = pod('x', '10.0.0.1', { namespace: 'prod', labels: { app: 'x' } });
  const missing = 'workload with app=web';
  const slice = {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.2'], targetRef: { kind: 'Pod', name: 'p' } }, { addresses: ['10.0.0.3'] }],
    ports: [{ port: 80 }],
  };
  const ref = (name: string, more: JsonObject = {}): JsonObject => ({ name, ...more });
  test.each<[string, readonly JsonObject[], readonly string[]]>([
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
    ['ServiceImport', [of('ServiceImport', {})], ['metadata.name: Service/prod/a']],
    [
      'Gateway API: Gateway',
      [
        of('KubernetesGateway', {
          gatewayClassName: 'mine',
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
        'spec.gatewayClassName: GatewayClass/mine',
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
        'spec.parentRefs[0]: Gateway/prod/gw',
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
      [of('ListenerSet', { parentRef: ref('gw'), listeners: [{ name: 'a', port: 80, protocol: 'HTTP' }] })],
      ['spec.parentRef: Gateway/prod/gw'],
    ],
    [
      'Gateway API: GatewayClass',
      [
        of(
          'GatewayClass',
          { controllerName: 'x.io/y', parametersRef: { group: '', kind: 'ConfigMap', name: 'c', namespace: 'prod' } },
          { metadata: { name: 'a' } },
        ),
      ],
      ['spec.parametersRef: ConfigMap/prod/c'],
    ],
    [
      'Gateway API: ReferenceGrant',
      [
        of('ReferenceGrant', {
          from: [{ group: '', kind: 'Service', namespace: 'test' }],
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
      [
        of('InferencePool', {
          selector: { matchLabels: { app: 'a' } },
          targetPorts: [{ number: 80 }],
          endpointPickerRef: ref('picker', { port: { number: 9002 } }),
        }),
      ],
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
});

test('references to a cluster-scoped class match by its name alone', () => {
  const gateway = withSpec('KubernetesGateway', {
    gatewayClassName: 'istio',
    listeners: [{ name: 'a', port: 80, protocol: 'HTTP' }],
  });
  const gatewayClass = { ...withSpec('GatewayClass', { controllerName: 'x.io/y' }), metadata: { name: 'istio' } };
  expect(ask(world([gateway, gatewayClass]), danglingReferences, '')).toEqual([]);
});
