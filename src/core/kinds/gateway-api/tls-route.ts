// TLSRoute: how TLS connections are routed by server name. Version v1alpha2 has no hostnames of necessity.

import type { TLSRouteSpec } from '../../schema/gateway-api-types.gen.ts';
import { GATEWAY_API, gatewayKind } from './gateway-kind.ts';
import { routeReferences } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly TLSRoute: {
      readonly spec: Omit<TLSRouteSpec, 'hostnames'> & Partial<Pick<TLSRouteSpec, 'hostnames'>>;
      readonly push: 'config';
    };
  }
}

export const tlsRoute = gatewayKind({
  kind: 'TLSRoute',
  group: GATEWAY_API,
  versions: ['v1', 'v1alpha3', 'v1alpha2'],
  push: 'config',
  references: routeReferences,
});
