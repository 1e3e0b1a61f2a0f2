// Arbitrary objects of the Gateway API, of its inference extension, and Ingresses: gateways, routes that hang on them,
// and what they name.

import type { Json, JsonObject } from '../../core/base/json.ts';
import { fc } from '../fast-check.ts';
import {
  all,
  both,
  clusterWide,
  list,
  name,
  namespace,
  object,
  portNumber,
  type Shape,
  some,
  type Value,
} from './pools.ts';

const GROUP = 'gateway.networking.k8s.io';

const backend: Shape = both(
  all({ name, port: portNumber }),
  some({ namespace, weight: fc.constantFrom(0, 1, 9), kind: fc.constantFrom('Service', 'InferencePool') }),
);
const parent: Shape = both(
  all({ name }),
  some({ namespace, sectionName: fc.constantFrom('http', 'https'), kind: fc.constantFrom('Gateway', 'ListenerSet') }),
);
const hostnames: Value = fc.constantFrom<Json>(['api.example.com'], ['*.example.com', 'a.test']);

const match: Shape = some({
  path: fc.constantFrom<Json>({ type: 'PathPrefix', value: '/api' }, { type: 'Exact', value: '/' }),
  headers: fc.constant<Json>([{ type: 'Exact', name: 'x-user', value: 'jason' }]),
  method: fc.constantFrom('GET', 'POST'),
});
const filter: Shape = fc.constantFrom<JsonObject>(
  { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x', value: 'y' }] } },
  { type: 'URLRewrite', urlRewrite: { hostname: 'b.test' } },
);
const l7Rule: Shape = both(
  all({ backendRefs: list(backend, 1, 2) }),
  some({ matches: list(match, 1, 2), filters: list(filter, 1, 1), timeouts: fc.constant<Json>({ request: '5s' }) }),
);
const redirectRule: Shape = both(
  all({ filters: fc.constant<Json>([{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }]) }),
  some({ matches: list(match, 1, 2) }),
);
const grpcRule: Shape = both(
  all({ backendRefs: list(backend, 1, 2) }),
  some({ matches: fc.constant<Json>([{ method: { service: 'foo.Bar', method: 'Baz' } }]) }),
);

function route(kind: string, versions: readonly string[], rule: Shape): Shape {
  const spec = both(all({ parentRefs: distinct(parent, 1, 2), rules: list(rule, 1, 2) }), some({ hostnames }));
  return versioned(kind, versions, spec);
}

function l4Route(kind: string, versions: readonly string[], more: Shape = all({})): Shape {
  return versioned(kind, versions, both(all({ parentRefs: distinct(parent, 1, 2), rules: list(l4Rule, 1, 1) }), more));
}

/** Elements of different names. */
function distinct(shape: Shape, minLength: number, maxLength: number): Value {
  return fc.uniqueArray(shape, { minLength, maxLength, selector: element => element.name });
}

function versioned(
  kind: string,
  versions: readonly string[],
  spec: Shape,
  metadata: Parameters<typeof object>[3] = {},
): Shape {
  const made = object(`${GROUP}/v1`, kind, all({ spec }), metadata);
  return fc
    .tuple(made, fc.constantFrom(...versions))
    .map(([found, version]): JsonObject => ({ ...found, apiVersion: `${GROUP}/${version}` }));
}

const listener: Shape = both(
  fc.oneof(
    all({ name: fc.constant('http'), port: portNumber, protocol: fc.constant('HTTP') }),
    all({
      name: fc.constant('https'),
      port: fc.constant(443),
      protocol: fc.constantFrom('HTTPS', 'TLS'),
      tls: fc.constant<Json>({ mode: 'Terminate', certificateRefs: [{ name: 'credential' }] }),
    }),
  ),
  some({
    hostname: fc.constant('*.example.com'),
    allowedRoutes: fc.constantFrom<Json>({ namespaces: { from: 'All' } }, { namespaces: { from: 'Same' } }),
  }),
);
const l4Rule: Shape = all({ backendRefs: list(backend, 1, 2) });

const gateway: Shape = versioned(
  'Gateway',
  ['v1', 'v1beta1'],
  all({ gatewayClassName: fc.constantFrom('istio', 'other'), listeners: distinct(listener, 1, 2) }),
  { labels: some({ 'istio.io/rev': fc.constantFrom('default', 'canary') }) },
);
const gatewayClass: Shape = clusterWide(
  versioned(
    'GatewayClass',
    ['v1', 'v1beta1'],
    all({ controllerName: fc.constantFrom('istio.io/gateway-controller', 'example.com/other') }),
    { name: fc.constantFrom('istio', 'other') },
  ),
);
const listenerSet: Shape = versioned(
  'ListenerSet',
  ['v1'],
  all({ parentRef: parent, listeners: distinct(listener, 1, 2) }),
);
const referenceGrant: Shape = versioned(
  'ReferenceGrant',
  ['v1', 'v1beta1'],
  all({
    from: list(all({ group: fc.constant(GROUP), kind: fc.constantFrom('HTTPRoute', 'Gateway'), namespace }), 1, 1),
    to: fc.constantFrom<Json>([{ group: '', kind: 'Secret' }], [{ group: '', kind: 'Service', name: 'alpha' }]),
  }),
);
const backendTlsPolicy: Shape = versioned(
  'BackendTLSPolicy',
  ['v1', 'v1alpha3'],
  all({
    targetRefs: list(all({ group: fc.constant(''), kind: fc.constant('Service'), name }), 1, 1),
    validation: fc.constant<Json>({
      hostname: 'a.test',
      caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'settings' }],
    }),
  }),
);
const backendTrafficPolicy: Shape = object(
  'gateway.networking.x-k8s.io/v1alpha1',
  'XBackendTrafficPolicy',
  all({ spec: all({ targetRefs: list(all({ group: fc.constant(''), kind: fc.constant('Service'), name }), 1, 1) }) }),
);
const inferencePool: Shape = object(
  'inference.networking.k8s.io/v1',
  'InferencePool',
  all({
    spec: all({
      selector: all({ matchLabels: all({ app: name }) }),
      targetPorts: fc.constant<Json>([{ number: 8000 }]),
      endpointPickerRef: all({ name, port: fc.constant<Json>({ number: 9002 }) }),
    }),
  }),
);
const ingress: Shape = object(
  'networking.k8s.io/v1',
  'Ingress',
  all({
    spec: both(
      all({
        rules: fc.tuple(name, portNumber).map(
          ([service, number]): Json => [
            {
              host: 'api.example.com',
              http: {
                paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: service, port: { number } } } }],
              },
            },
          ],
        ),
      }),
      some({
        ingressClassName: fc.constantFrom('istio', 'nginx'),
        tls: fc.constant<Json>([{ secretName: 'credential' }]),
      }),
    ),
  }),
);
const ingressClass: Shape = clusterWide(
  object(
    'networking.k8s.io/v1',
    'IngressClass',
    all({ spec: all({ controller: fc.constantFrom('istio.io/ingress-controller', 'k8s.io/nginx') }) }),
    { name: fc.constantFrom('istio', 'nginx') },
  ),
);

export const gatewayApiObject: Shape = fc.oneof(
  { weight: 3, arbitrary: gateway },
  { weight: 3, arbitrary: route('HTTPRoute', ['v1', 'v1beta1'], fc.oneof(l7Rule, redirectRule)) },
  { weight: 1, arbitrary: route('GRPCRoute', ['v1'], grpcRule) },
  { weight: 1, arbitrary: l4Route('TLSRoute', ['v1', 'v1alpha3', 'v1alpha2'], all({ hostnames })) },
  { weight: 1, arbitrary: l4Route('TCPRoute', ['v1', 'v1alpha2']) },
  { weight: 1, arbitrary: l4Route('UDPRoute', ['v1alpha2']) },
  { weight: 1, arbitrary: gatewayClass },
  { weight: 1, arbitrary: listenerSet },
  { weight: 1, arbitrary: referenceGrant },
  { weight: 1, arbitrary: backendTlsPolicy },
  { weight: 1, arbitrary: backendTrafficPolicy },
  { weight: 1, arbitrary: inferencePool },
  { weight: 1, arbitrary: ingress },
  { weight: 1, arbitrary: ingressClass },
);
