// The kinds of routes, and which of them a listener takes.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/conversion.go (GenerateSupportedKinds).

import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import type { GatewayListener } from '../../schema/gateway-api-types.gen.ts';

export const routeKinds = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute'] as const;
export type RouteKind = (typeof routeKinds)[number];

/** As messages name the kind. */
export const routeVersions: Readonly<Record<RouteKind, string>> = {
  HTTPRoute: 'v1',
  GRPCRoute: 'v1',
  TLSRoute: 'v1',
  TCPRoute: 'v1alpha2',
};

export interface SupportedKinds {
  readonly kinds: readonly RouteKind[];
  /** False: the listener names a kind that its protocol cannot carry. */
  readonly complete: boolean;
}

export function supportedKinds({ protocol, tls, allowedRoutes }: GatewayListener): SupportedKinds {
  const all = kindsOfProtocol(protocol, tls?.mode);
  const wanted = allowedRoutes?.kinds ?? [];
  if (wanted.length === 0) return { kinds: all, complete: true };
  const kinds = all.filter(kind => wanted.some(one => one.group === GATEWAY_API && one.kind === kind));
  return { kinds, complete: kinds.length === wanted.length };
}

function kindsOfProtocol(protocol: string, mode: string | undefined): readonly RouteKind[] {
  switch (protocol) {
    case 'HTTP':
    case 'HTTPS':
      return ['HTTPRoute', 'GRPCRoute'];
    case 'TCP':
      return ['TCPRoute'];
    case 'TLS':
      return mode === 'Terminate' ? ['TLSRoute', 'TCPRoute'] : ['TLSRoute'];
    default:
      return [];
  }
}
