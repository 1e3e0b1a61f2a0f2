// UDPRoute: where the UDP datagrams of a listener go.

import type { UDPRouteSpec } from '../../schema/gateway-api-types.gen.ts';
import { GATEWAY_API, gatewayKind, NOT_YET } from './gateway-kind.ts';
import { routeReferences } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly UDPRoute: { readonly spec: UDPRouteSpec; readonly push: 'none' };
  }
}

export const udpRoute = gatewayKind({
  kind: 'UDPRoute',
  group: GATEWAY_API,
  versions: ['v1alpha2'],
  push: 'none',
  references: routeReferences,
  notYet: NOT_YET,
});
