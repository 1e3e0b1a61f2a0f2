// The kinds of the Gateway API as cases (kinds.ts). The mesh has a Gateway `k` that the connected router serves.

import type { JsonObject } from '../../src/core/base/json.ts';
import { gatewayApiConstraints } from '../../src/core/schema/gateway-api-constraints.gen.ts';
import type { Elements } from './grow.ts';
import type { KindCase } from './kinds.ts';

const GROUP = 'gateway.networking.k8s.io';
const parentRefs = [{ name: 'k' }, { group: '', kind: 'Service', name: 's' }];
const backendRefs = [{ name: 's', port: 80 }];
const elements: Elements = {
  kinds: { kind: 'HTTPRoute%' },
  parentRefs: { name: 'k', sectionName: 'l%' },
  backendRefs: { name: 's', port: '%port' },
  filters: { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-h%', value: 'v' }] } },
  requestHeaderModifier: {},
  responseHeaderModifier: {},
  set: { name: 'x-h%', value: 'v' },
  add: { name: 'x-h%', value: 'v' },
  remove: 'x-h%',
  headers: { name: 'x-h%', value: 'v' },
  queryParams: { name: 'q%', value: 'v' },
  codes: 500,
  addresses: { type: 'IPAddress', value: '%ip' },
  certificateRefs: { name: 'c%' },
  matchExpressions: { key: 'k%', operator: 'In', values: ['v'] },
  cors: {},
  externalAuth: { backendRef: { name: 's', port: 80 }, protocol: 'HTTP' },
  allowOrigins: 'https://o%.example.com',
  allowHeaders: 'x-h%',
  exposeHeaders: 'x-h%',
  allowedHeaders: 'x-h%',
  allowedResponseHeaders: 'x-h%',
  perPort: { port: '%port', tls: {} },
};

function gatewayApi(
  kind: string,
  spec: JsonObject,
  more: Partial<KindCase> = {},
  apiVersion = `${GROUP}/v1`,
): KindCase {
  const objectKind = kind === 'KubernetesGateway' ? 'Gateway' : kind;
  return {
    kind,
    object: { apiVersion, kind: objectKind, spec },
    constraint: { type: 'object', properties: { spec: gatewayApiConstraints[objectKind]!.spec } },
    ...more,
    elements: { ...elements, ...more.elements },
  };
}

export const gatewayApiKinds: readonly KindCase[] = [
  gatewayApi(
    'HTTPRoute',
    {
      parentRefs,
      hostnames: ['h%.example.com'],
      rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/p%' } }], backendRefs }],
    },
    { elements: { matches: { path: { type: 'PathPrefix', value: '/p%' } } } },
  ),
  gatewayApi(
    'GRPCRoute',
    {
      parentRefs,
      hostnames: ['h%.example.com'],
      rules: [{ matches: [{ method: { service: 'a.b%', method: 'C' } }], backendRefs }],
    },
    { elements: { matches: { method: { service: 'a.b%' } } } },
  ),
  gatewayApi(
    'TCPRoute',
    { parentRefs, rules: [{ backendRefs }] },
    { elements: { rules: { name: 'r%', backendRefs } } },
    `${GROUP}/v1alpha2`,
  ),
  gatewayApi(
    'TLSRoute',
    { parentRefs, hostnames: ['h%.example.com'], rules: [{ backendRefs }] },
    { elements: { rules: { name: 'r%', backendRefs } } },
    `${GROUP}/v1alpha2`,
  ),
  gatewayApi(
    'UDPRoute',
    { parentRefs, rules: [{ backendRefs }] },
    { elements: { rules: { name: 'r%', backendRefs } } },
    `${GROUP}/v1alpha2`,
  ),
  gatewayApi('KubernetesGateway', {
    gatewayClassName: 'istio',
    listeners: [{ name: 'l%', port: '%port', protocol: 'HTTP', hostname: 'h%.example.com' }],
  }),
  gatewayApi('ListenerSet', {
    parentRef: { name: 'k' },
    listeners: [{ name: 'l%', port: '%port', protocol: 'HTTP', hostname: 'h%.example.com' }],
  }),
  gatewayApi(
    'ReferenceGrant',
    {
      from: [{ group: GROUP, kind: 'HTTPRoute', namespace: 'n%' }],
      to: [{ group: '', kind: 'Service', name: 's%' }],
    },
    {},
    `${GROUP}/v1beta1`,
  ),
  gatewayApi(
    'BackendTLSPolicy',
    {
      targetRefs: [{ group: '', kind: 'Service', name: 's%' }],
      validation: { hostname: 'h%.example.com', wellKnownCACertificates: 'System' },
    },
    { elements: { subjectAltNames: { type: 'Hostname', hostname: 'h%.example.com' } } },
  ),
  gatewayApi(
    'XBackendTrafficPolicy',
    {
      targetRefs: [{ group: '', kind: 'Service', name: 's%' }],
      retryConstraint: { budget: { percent: 20, interval: '10s' } },
    },
    {},
    'gateway.networking.x-k8s.io/v1alpha1',
  ),
  gatewayApi('GatewayClass', { controllerName: 'istio.io/gateway-controller' }, { clusterScoped: true }),
  gatewayApi(
    'InferencePool',
    {
      selector: { matchLabels: { app: 'p' } },
      targetPorts: [{ number: '%port' }],
      endpointPickerRef: { name: 's', port: { number: 80 } },
    },
    {},
    'inference.networking.k8s.io/v1',
  ),
];
