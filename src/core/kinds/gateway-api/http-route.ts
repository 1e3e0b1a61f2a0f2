// HTTPRoute: how HTTP requests that a Gateway or a Service receives are routed.

import type { HTTPRouteSpec } from '../../schema/gateway-api-types.gen.ts';
import { GATEWAY_API, gatewayKind } from './gateway-kind.ts';
import { routeReferences } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly HTTPRoute: { readonly spec: HTTPRouteSpec; readonly push: 'config' };
  }
}

export const httpRoute = gatewayKind({
  kind: 'HTTPRoute',
  group: GATEWAY_API,
  versions: ['v1', 'v1beta1'],
  push: 'config',
  references: routeReferences,
});
