// GRPCRoute: how gRPC calls that a Gateway or a Service receives are routed.

import type { GRPCRouteSpec } from '../../schema/gateway-api-types.gen.ts';
import { GATEWAY_API, gatewayKind } from './gateway-kind.ts';
import { routeReferences } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly GRPCRoute: { readonly spec: GRPCRouteSpec; readonly push: 'config' };
  }
}

export const grpcRoute = gatewayKind({
  kind: 'GRPCRoute',
  group: GATEWAY_API,
  versions: ['v1'],
  push: 'config',
  references: routeReferences,
});
