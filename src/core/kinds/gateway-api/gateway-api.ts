// The kinds of the Gateway API (bundle v1.5.1, all served versions) and of its inference extension. Defaults of the API server are not
// filled in here. Nothing is generated from them yet: each says so when it is accepted.

import type { SchemaField, SchemaMessage } from '../../schema/schema.ts';
import { configKind } from '../config-kind.ts';
import {
  backendTlsPolicyReferences,
  gatewayClassReferences,
  inferencePoolReferences,
  kubernetesGatewayReferences,
  listenerSetReferences,
  referenceGrantReferences,
  routeReferences,
  targetReferences,
} from './references.ts';
import type {
  BackendTlsPolicySpec,
  BackendTrafficPolicySpec,
  GatewayClassSpec,
  GrpcRouteSpec,
  HttpRouteSpec,
  InferencePoolSpec,
  KubernetesGatewaySpec,
  L4RouteSpec,
  ListenerSetSpec,
  ReferenceGrantSpec,
} from './specs.ts';

const GROUP = 'gateway.networking.k8s.io';
const NOT_YET = 'no proxy is sent anything of it';

const strings = (...names: readonly string[]): readonly SchemaField[] => names.map(name => ({ name, type: 'string' }));
const structs = (...names: readonly string[]): readonly SchemaField[] => names.map(name => ({ name, type: 'struct' }));
const one = (name: string, message: string): SchemaField => ({ name, type: { message } });
const list = (name: string, message: string): SchemaField => ({ name, type: { message }, repeated: true });
const texts = (name: string): SchemaField => ({ name, type: 'string', repeated: true });
const map = (name: string): SchemaField => ({ name, type: 'string', map: 'string' });

const Reference: SchemaMessage = [
  ...strings('group', 'kind', 'namespace', 'name', 'sectionName'),
  { name: 'port', type: 'int32' },
];
const TypedText: SchemaMessage = strings('type', 'name', 'value');
const Filter: SchemaMessage = [
  ...strings('type'),
  ...structs(
    'requestHeaderModifier',
    'responseHeaderModifier',
    'requestMirror',
    'requestRedirect',
    'urlRewrite',
    'cors',
    'externalAuth',
  ),
  one('extensionRef', 'Reference'),
];
const shared = { Reference, TypedText, Filter };
const Backend: SchemaMessage = [...Reference, { name: 'weight', type: 'int32' }, list('filters', 'Filter')];
const Route: SchemaMessage = [list('parentRefs', 'Reference'), texts('hostnames'), list('rules', 'Rule')];
const Rule: SchemaMessage = [...strings('name'), list('backendRefs', 'Backend')];
const RuleL7: SchemaMessage = [
  ...Rule,
  list('matches', 'Match'),
  list('filters', 'Filter'),
  one('timeouts', 'Timeouts'),
  ...structs('retry', 'sessionPersistence'),
];
const Timeouts: SchemaMessage = strings('request', 'backendRequest');
const listeners = {
  Listener: [
    ...strings('name', 'hostname', 'protocol'),
    { name: 'port', type: 'int32' },
    one('tls', 'Tls'),
    one('allowedRoutes', 'AllowedRoutes'),
  ],
  Tls: [...strings('mode'), list('certificateRefs', 'Reference'), map('options')],
  AllowedRoutes: [one('namespaces', 'Namespaces'), list('kinds', 'Reference')],
  Namespaces: [...strings('from'), ...structs('selector')],
} satisfies Readonly<Record<string, SchemaMessage>>;
const l4 = { ...shared, Spec: Route, Rule, Backend };

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly BackendTLSPolicy: { readonly spec: BackendTlsPolicySpec; readonly push: 'none' };
    readonly GRPCRoute: { readonly spec: GrpcRouteSpec; readonly push: 'none' };
    readonly GatewayClass: { readonly spec: GatewayClassSpec; readonly push: 'none' };
    readonly HTTPRoute: { readonly spec: HttpRouteSpec; readonly push: 'none' };
    readonly InferencePool: { readonly spec: InferencePoolSpec; readonly push: 'none' };
    readonly KubernetesGateway: { readonly spec: KubernetesGatewaySpec; readonly push: 'none' };
    readonly ListenerSet: { readonly spec: ListenerSetSpec; readonly push: 'none' };
    readonly ReferenceGrant: { readonly spec: ReferenceGrantSpec; readonly push: 'none' };
    readonly TCPRoute: { readonly spec: L4RouteSpec; readonly push: 'none' };
    readonly TLSRoute: { readonly spec: L4RouteSpec; readonly push: 'none' };
    readonly UDPRoute: { readonly spec: L4RouteSpec; readonly push: 'none' };
    readonly XBackendTrafficPolicy: { readonly spec: BackendTrafficPolicySpec; readonly push: 'none' };
  }
}

export const kubernetesGateway = configKind({
  kind: 'KubernetesGateway',
  objectKind: 'Gateway',
  group: GROUP,
  versions: ['v1', 'v1beta1'],
  push: 'none',
  messages: {
    ...shared,
    ...listeners,
    Spec: [
      ...strings('gatewayClassName'),
      list('listeners', 'Listener'),
      list('addresses', 'TypedText'),
      ...structs('infrastructure', 'tls', 'allowedListeners'),
    ],
  },
  references: kubernetesGatewayReferences,
  notYet: NOT_YET,
});
export const gatewayClass = configKind({
  kind: 'GatewayClass',
  group: GROUP,
  versions: ['v1', 'v1beta1'],
  push: 'none',
  clusterScoped: true,
  messages: { Reference, Spec: [...strings('controllerName'), one('parametersRef', 'Reference')] },
  references: gatewayClassReferences,
  notYet: NOT_YET,
});
export const httpRoute = configKind({
  kind: 'HTTPRoute',
  group: GROUP,
  versions: ['v1', 'v1beta1'],
  push: 'none',
  messages: {
    ...shared,
    Spec: Route,
    Rule: RuleL7,
    Timeouts,
    Backend,
    Match: [
      one('path', 'TypedText'),
      list('headers', 'TypedText'),
      list('queryParams', 'TypedText'),
      ...strings('method'),
    ],
  },
  references: routeReferences,
  notYet: NOT_YET,
});
export const grpcRoute = configKind({
  kind: 'GRPCRoute',
  group: GROUP,
  versions: ['v1'],
  push: 'none',
  messages: {
    ...shared,
    Spec: Route,
    Rule: RuleL7,
    Timeouts,
    Backend,
    Match: [one('method', 'Method'), list('headers', 'TypedText')],
    Method: strings('type', 'service', 'method'),
  },
  references: routeReferences,
  notYet: NOT_YET,
});
export const tlsRoute = configKind({
  kind: 'TLSRoute',
  group: GROUP,
  versions: ['v1', 'v1alpha3', 'v1alpha2'],
  push: 'none',
  messages: l4,
  references: routeReferences,
  notYet: NOT_YET,
});
export const tcpRoute = configKind({
  kind: 'TCPRoute',
  group: GROUP,
  versions: ['v1alpha2', 'v1'],
  push: 'none',
  messages: l4,
  references: routeReferences,
  notYet: NOT_YET,
});
export const udpRoute = configKind({
  kind: 'UDPRoute',
  group: GROUP,
  versions: ['v1alpha2'],
  push: 'none',
  messages: l4,
  references: routeReferences,
  notYet: NOT_YET,
});
export const listenerSet = configKind({
  kind: 'ListenerSet',
  group: GROUP,
  versions: ['v1'],
  push: 'none',
  messages: { ...shared, ...listeners, Spec: [one('parentRef', 'Reference'), list('listeners', 'Listener')] },
  references: listenerSetReferences,
  notYet: NOT_YET,
});
export const referenceGrant = configKind({
  kind: 'ReferenceGrant',
  group: GROUP,
  versions: ['v1beta1', 'v1'],
  push: 'none',
  messages: { Reference, Spec: [list('from', 'Reference'), list('to', 'Reference')] },
  references: referenceGrantReferences,
  notYet: NOT_YET,
});
export const backendTlsPolicy = configKind({
  kind: 'BackendTLSPolicy',
  group: GROUP,
  versions: ['v1', 'v1alpha3'],
  push: 'none',
  messages: {
    Reference,
    Spec: [list('targetRefs', 'Reference'), one('validation', 'Validation'), map('options')],
    Validation: [
      list('caCertificateRefs', 'Reference'),
      ...strings('wellKnownCACertificates', 'hostname'),
      list('subjectAltNames', 'SubjectAltName'),
    ],
    SubjectAltName: strings('type', 'hostname', 'uri'),
  },
  references: backendTlsPolicyReferences,
  notYet: NOT_YET,
});
export const backendTrafficPolicy = configKind({
  kind: 'XBackendTrafficPolicy',
  group: 'gateway.networking.x-k8s.io',
  versions: ['v1alpha1'],
  push: 'none',
  messages: {
    Reference,
    Spec: [list('targetRefs', 'Reference'), ...structs('retryConstraint', 'sessionPersistence')],
  },
  references: targetReferences,
  notYet: NOT_YET,
});
export const inferencePool = configKind({
  kind: 'InferencePool',
  group: 'inference.networking.k8s.io',
  versions: ['v1'],
  push: 'none',
  messages: {
    Spec: [one('selector', 'Selector'), list('targetPorts', 'Port'), ...structs('endpointPickerRef')],
    Selector: [map('matchLabels')],
    Port: [{ name: 'number', type: 'int32' }],
  },
  references: inferencePoolReferences,
  notYet: NOT_YET,
});
