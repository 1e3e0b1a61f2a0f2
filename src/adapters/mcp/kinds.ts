// The kinds that a control plane offers over xDS, by the type URL of a subscription, and the message that carries the spec
// of each. Source: Istio pkg/adsc/adsc.go (ConfigInitialRequests), pkg/config/schema/collections.

import type { KindName } from '../../core/model/kind.ts';

export interface McpKind {
  readonly kind: KindName;
  /** Also the type URL. */
  readonly apiVersion: string;
  /** The message of the spec. */
  readonly message: string;
}

const kinds = (apiVersion: string, messages: string, ...names: readonly KindName[]): readonly McpKind[] =>
  names.map(kind => ({ kind, apiVersion, message: `${messages}.${kind}` }));

/** By kind. */
export const mcpKinds: readonly McpKind[] = [
  ...kinds(
    'networking.istio.io/v1',
    'istio.networking.v1alpha3',
    'DestinationRule',
    'Gateway',
    'ServiceEntry',
    'Sidecar',
    'VirtualService',
    'WorkloadEntry',
    'WorkloadGroup',
  ),
  ...kinds('networking.istio.io/v1alpha3', 'istio.networking.v1alpha3', 'EnvoyFilter'),
  ...kinds('networking.istio.io/v1beta1', 'istio.networking.v1beta1', 'ProxyConfig'),
  ...kinds(
    'security.istio.io/v1',
    'istio.security.v1beta1',
    'AuthorizationPolicy',
    'PeerAuthentication',
    'RequestAuthentication',
  ),
  ...kinds('telemetry.istio.io/v1', 'istio.telemetry.v1alpha1', 'Telemetry'),
  ...kinds('extensions.istio.io/v1alpha1', 'istio.extensions.v1alpha1', 'TrafficExtension', 'WasmPlugin'),
].sort((a, b) => (a.kind < b.kind ? -1 : 1));

export function typeUrlOf({ apiVersion, kind }: McpKind): string {
  return `${apiVersion}/${kind}`;
}

const byUrl: ReadonlyMap<string, McpKind> = new Map(mcpKinds.map(kind => [typeUrlOf(kind), kind] as const));

/** Undefined: not one of them. */
export function mcpKindOf(typeUrl: string): McpKind | undefined {
  return byUrl.get(typeUrl);
}
