// The kinds that a control plane offers over xDS, by the type URL of a subscription, and the message that carries the
// spec of each: what the adapter `mcp` asks for and what the generator `api` answers.
// Source: Istio pkg/adsc/adsc.go (ConfigInitialRequests), pkg/config/schema/collections.

import type { IstioTypeMap } from '../schema/istio-types.gen.ts';

/** The value of the metadata key GENERATOR of a client that reads configuration. */
export const API_GENERATOR = 'api';

/** Kinds whose decoded form is the message itself. */
type OfferedKind =
  | 'AuthorizationPolicy'
  | 'DestinationRule'
  | 'EnvoyFilter'
  | 'Gateway'
  | 'PeerAuthentication'
  | 'ProxyConfig'
  | 'RequestAuthentication'
  | 'ServiceEntry'
  | 'Sidecar'
  | 'Telemetry'
  | 'TrafficExtension'
  | 'VirtualService'
  | 'WasmPlugin'
  | 'WorkloadEntry'
  | 'WorkloadGroup';

export interface McpKind {
  readonly kind: OfferedKind;
  /** Also the type URL. */
  readonly apiVersion: string;
  /** The message of the spec. */
  readonly message: keyof IstioTypeMap;
}

const kinds = (apiVersion: string, messages: string, ...names: readonly OfferedKind[]): readonly McpKind[] =>
  names.map(kind => ({ kind, apiVersion, message: `${messages}.${kind}` as keyof IstioTypeMap }));

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
