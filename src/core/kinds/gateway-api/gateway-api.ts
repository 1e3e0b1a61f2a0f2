// The kinds of the Gateway API (bundle v1.5.1, all served versions) and of its inference extension. Defaults of the API server are not
// filled in here. Nothing is generated from them yet: each says so when it is accepted.

import type { JsonObject } from '../../base/json.ts';
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
} from './references-gateway-api.ts';

const GROUP = 'gateway.networking.k8s.io';
const NOT_YET = 'no proxy is sent anything of it';

export interface ObjectReference {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly sectionName?: string;
  readonly port?: number;
}
export interface RouteFilter {
  readonly type?: string;
  readonly requestHeaderModifier?: JsonObject;
  readonly responseHeaderModifier?: JsonObject;
  readonly requestMirror?: JsonObject;
  readonly requestRedirect?: JsonObject;
  readonly urlRewrite?: JsonObject;
  readonly cors?: JsonObject;
  readonly externalAuth?: JsonObject;
  readonly extensionRef?: ObjectReference;
}
export interface BackendReference extends ObjectReference {
  readonly weight?: number;
  readonly filters?: readonly RouteFilter[];
}
export interface TypedValue {
  readonly type?: string;
  readonly name?: string;
  readonly value?: string;
}
export interface RouteMatch {
  readonly path?: TypedValue;
  readonly headers?: readonly TypedValue[];
  readonly queryParams?: readonly TypedValue[];
  readonly method?: string;
}
interface RouteSpec<Rule> {
  readonly parentRefs?: readonly ObjectReference[];
  readonly hostnames?: readonly string[];
  readonly rules?: readonly Rule[];
}
interface RouteRule {
  readonly name?: string;
  readonly backendRefs?: readonly BackendReference[];
}
export type L4RouteSpec = RouteSpec<RouteRule>;
export type HttpRouteSpec = RouteSpec<
  RouteRule & {
    readonly matches?: readonly RouteMatch[];
    readonly filters?: readonly RouteFilter[];
    readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
    readonly retry?: JsonObject;
    readonly sessionPersistence?: JsonObject;
  }
>;
export type GrpcRouteSpec = RouteSpec<
  RouteRule & {
    readonly matches?: readonly {
      readonly method?: { readonly type?: string; readonly service?: string; readonly method?: string };
      readonly headers?: readonly TypedValue[];
    }[];
    readonly filters?: readonly RouteFilter[];
    readonly sessionPersistence?: JsonObject;
  }
>;
export interface GatewayListener {
  readonly name?: string;
  readonly hostname?: string;
  readonly port?: number;
  readonly protocol?: string;
  readonly tls?: {
    readonly mode?: string;
    readonly certificateRefs?: readonly ObjectReference[];
    readonly options?: Readonly<Record<string, string>>;
  };
  readonly allowedRoutes?: {
    readonly namespaces?: { readonly from?: string; readonly selector?: JsonObject };
    readonly kinds?: readonly ObjectReference[];
  };
}
export interface KubernetesGatewaySpec {
  readonly gatewayClassName?: string;
  readonly listeners?: readonly GatewayListener[];
  readonly addresses?: readonly TypedValue[];
  readonly infrastructure?: JsonObject;
  readonly tls?: JsonObject;
  readonly allowedListeners?: JsonObject;
}
export interface GatewayClassSpec {
  readonly controllerName?: string;
  readonly parametersRef?: ObjectReference;
}
export interface ListenerSetSpec {
  readonly parentRef?: ObjectReference;
  readonly listeners?: readonly GatewayListener[];
}
export interface ReferenceGrantSpec {
  readonly from?: readonly ObjectReference[];
  readonly to?: readonly ObjectReference[];
}
export interface BackendTlsPolicySpec {
  readonly targetRefs?: readonly ObjectReference[];
  readonly validation?: {
    readonly caCertificateRefs?: readonly ObjectReference[];
    readonly wellKnownCACertificates?: string;
    readonly hostname?: string;
    readonly subjectAltNames?: readonly { readonly type?: string; readonly hostname?: string; readonly uri?: string }[];
  };
  readonly options?: Readonly<Record<string, string>>;
}
export interface BackendTrafficPolicySpec {
  readonly targetRefs?: readonly ObjectReference[];
  readonly retryConstraint?: JsonObject;
  readonly sessionPersistence?: JsonObject;
}
export interface InferencePoolSpec {
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly targetPorts?: readonly { readonly number?: number }[];
  readonly endpointPickerRef?: JsonObject;
}

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

export const kubernetesGateway = configKind({
  kind: 'KubernetesGateway',
  objectKind: 'Gateway',
  group: GROUP,
  versions: ['v1', 'v1beta1'],
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
  clusterScoped: true,
  messages: { Reference, Spec: [...strings('controllerName'), one('parametersRef', 'Reference')] },
  references: gatewayClassReferences,
  notYet: NOT_YET,
});
export const httpRoute = configKind({
  kind: 'HTTPRoute',
  group: GROUP,
  versions: ['v1', 'v1beta1'],
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
  messages: l4,
  references: routeReferences,
  notYet: NOT_YET,
});
export const tcpRoute = configKind({
  kind: 'TCPRoute',
  group: GROUP,
  versions: ['v1alpha2', 'v1'],
  messages: l4,
  references: routeReferences,
  notYet: NOT_YET,
});
export const udpRoute = configKind({
  kind: 'UDPRoute',
  group: GROUP,
  versions: ['v1alpha2'],
  messages: l4,
  references: routeReferences,
  notYet: NOT_YET,
});
export const listenerSet = configKind({
  kind: 'ListenerSet',
  group: GROUP,
  versions: ['v1'],
  messages: { ...shared, ...listeners, Spec: [one('parentRef', 'Reference'), list('listeners', 'Listener')] },
  references: listenerSetReferences,
  notYet: NOT_YET,
});
export const referenceGrant = configKind({
  kind: 'ReferenceGrant',
  group: GROUP,
  versions: ['v1beta1', 'v1'],
  messages: { Reference, Spec: [list('from', 'Reference'), list('to', 'Reference')] },
  references: referenceGrantReferences,
  notYet: NOT_YET,
});
export const backendTlsPolicy = configKind({
  kind: 'BackendTLSPolicy',
  group: GROUP,
  versions: ['v1', 'v1alpha3'],
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
  messages: {
    Spec: [one('selector', 'Selector'), list('targetPorts', 'Port'), ...structs('endpointPickerRef')],
    Selector: [map('matchLabels')],
    Port: [{ name: 'number', type: 'int32' }],
  },
  references: inferencePoolReferences,
  notYet: NOT_YET,
});
