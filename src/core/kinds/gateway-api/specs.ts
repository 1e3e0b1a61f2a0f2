// The decoded specs of the Gateway API.

import type { JsonObject } from '../../base/json.ts';

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
