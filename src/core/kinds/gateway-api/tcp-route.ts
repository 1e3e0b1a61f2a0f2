// TCPRoute: where the TCP connections of a listener go.

import type { TCPRouteSpec } from '../../schema/gateway-api-types.gen.ts';
import { GATEWAY_API, gatewayKind } from './gateway-kind.ts';
import { routeReferences } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly TCPRoute: { readonly spec: TCPRouteSpec; readonly push: 'config' };
  }
}

export const tcpRoute = gatewayKind({
  kind: 'TCPRoute',
  group: GATEWAY_API,
  versions: ['v1alpha2', 'v1'],
  push: 'config',
  references: routeReferences,
});
