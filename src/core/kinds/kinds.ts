// The kinds the core knows: what each is called, how it is keyed, decoded, validated and indexed. One definition a kind, in its own file.
//
// The decoded content is what everything downstream reads; nothing downstream looks at the raw object again.

import type { Either } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import type { JsonObject } from '../base/json.ts';
import type { Problem } from '../base/problem.ts';
import type { RawObject } from '../event.ts';
import type { Obj } from '../model/object.ts';
import type {
  AuthorizationPolicy,
  DestinationRule,
  EnvoyFilter,
  Gateway,
  IstioStatus,
  NetworkingProxyConfig,
  PeerAuthentication,
  RequestAuthentication,
  ServiceEntry,
  ServiceEntryStatus,
  Sidecar,
  Telemetry,
  TrafficExtension,
  VirtualService,
  WasmPlugin,
  WorkloadEntry,
  WorkloadGroup,
} from '../schema/istio-types.gen.ts';
import type {
  BackendTlsPolicySpec,
  BackendTrafficPolicySpec,
  GatewayClassSpec,
  GrpcRouteSpec,
  HttpRouteSpec,
  InferencePoolSpec,
  KubernetesGatewaySpec,
  L4RouteSpec,
  ListenerSetSpec,
  ReferenceGrantSpec,
} from './gateway-api/gateway-api.ts';
import type { ClusterTrustBundleData } from './kubernetes/cluster-trust-bundle.ts';
import type { ConfigMapData } from './kubernetes/config-map.ts';
import type { EndpointSliceData } from './kubernetes/endpoint-slice.ts';
import type { EndpointsData } from './kubernetes/endpoints.ts';
import type { IngressClassSpec, IngressSpec } from './kubernetes/ingress.ts';
import type { MetadataOnly } from './kubernetes/metadata-only.ts';
import type { NamespaceData } from './kubernetes/namespace.ts';
import type { NodeData } from './kubernetes/node.ts';
import type { PodData } from './kubernetes/pod.ts';
import type { SecretData } from './kubernetes/secret.ts';
import type { ServiceData } from './kubernetes/service.ts';
import type { WebhookConfigurationData } from './kubernetes/webhook-configuration.ts';
import type { ServiceImportData } from './mcs/multi-cluster-services.ts';
import type { JwksDocumentData } from './periplus/jwks-document.ts';
import type { ResolvedNameData } from './periplus/resolved-name.ts';
import type { Reference } from './references.ts';

/**
 * Decoded content by kind. Istio kinds: the spec as istio-types.gen.ts has it (presence kept: an absent field is undefined), for two of
 * them with the part of the status that generation reads. Kubernetes kinds: what Periplus uses of the whole object, flattened.
 */
export interface KindSpecs {
  readonly AuthorizationPolicy: AuthorizationPolicy;
  readonly DestinationRule: DestinationRule;
  readonly EnvoyFilter: EnvoyFilter;
  readonly Gateway: Gateway;
  readonly PeerAuthentication: PeerAuthentication;
  readonly ProxyConfig: NetworkingProxyConfig;
  readonly RequestAuthentication: RequestAuthentication;
  /** status.addresses: what the address allocator gave. */
  readonly ServiceEntry: ServiceEntry & { readonly status?: Pick<ServiceEntryStatus, 'addresses'> };
  readonly Sidecar: Sidecar;
  readonly Telemetry: Telemetry;
  readonly TrafficExtension: TrafficExtension;
  readonly VirtualService: VirtualService;
  readonly WasmPlugin: WasmPlugin;
  /** status.conditions: type and status only; health is the condition `Healthy`. */
  readonly WorkloadEntry: WorkloadEntry & { readonly status?: Pick<IstioStatus, 'conditions'> };
  readonly WorkloadGroup: WorkloadGroup;

  readonly BackendTLSPolicy: BackendTlsPolicySpec;
  readonly GRPCRoute: GrpcRouteSpec;
  readonly GatewayClass: GatewayClassSpec;
  readonly HTTPRoute: HttpRouteSpec;
  readonly InferencePool: InferencePoolSpec;
  readonly Ingress: IngressSpec;
  readonly IngressClass: IngressClassSpec;
  /** The Gateway of the Gateway API; `Gateway` is Istio's. */
  readonly KubernetesGateway: KubernetesGatewaySpec;
  readonly ListenerSet: ListenerSetSpec;
  readonly ReferenceGrant: ReferenceGrantSpec;
  readonly TCPRoute: L4RouteSpec;
  readonly TLSRoute: L4RouteSpec;
  readonly UDPRoute: L4RouteSpec;
  readonly XBackendTrafficPolicy: BackendTrafficPolicySpec;

  readonly ConfigMap: ConfigMapData;
  readonly EndpointSlice: EndpointSliceData;
  readonly Endpoints: EndpointsData;
  readonly Namespace: NamespaceData;
  readonly Node: NodeData;
  readonly Pod: PodData;
  readonly Secret: SecretData;
  readonly Service: ServiceData;

  readonly CertificateSigningRequest: MetadataOnly;
  readonly ClusterTrustBundle: ClusterTrustBundleData;
  readonly CustomResourceDefinition: MetadataOnly;
  readonly DaemonSet: MetadataOnly;
  readonly Deployment: MetadataOnly;
  readonly HorizontalPodAutoscaler: MetadataOnly;
  readonly Lease: MetadataOnly;
  readonly MutatingWebhookConfiguration: WebhookConfigurationData;
  readonly PodDisruptionBudget: MetadataOnly;
  readonly ServiceAccount: MetadataOnly;
  readonly ServiceExport: MetadataOnly;
  readonly ServiceImport: ServiceImportData;
  readonly StatefulSet: MetadataOnly;
  readonly ValidatingWebhookConfiguration: WebhookConfigurationData;

  /** An issuer's answer; of no API server. */
  readonly JwksDocument: JwksDocumentData;
  /** An answer of DNS; of no API server. */
  readonly ResolvedName: ResolvedNameData;
}
export type KindName = keyof KindSpecs;

export interface KindDefinition<K extends KindName = KindName> {
  readonly kind: K;
  /** What objects call the kind, where two kinds of different groups have one name; `kind` when absent. */
  readonly objectKind?: string;
  /** Accepted, but nothing acts on it yet: what does not come of it. Said once for each change of an object. */
  readonly notYet?: string;
  /** Empty for the core group of Kubernetes. */
  readonly group: string;
  /** Served versions, the storage version first. All decode alike unless the definition says otherwise. */
  readonly versions: readonly string[];
  readonly clusterScoped: boolean;
  /** `config`: keyed namespace/name, taken from the config cluster only. `kubernetes`: keyed cluster/namespace/name. */
  readonly store: 'config' | 'kubernetes';
  /** Members of metadata that its projection keeps for this kind alone. */
  readonly keepMeta?: readonly string[];
  /** Decode and validate; every problem found, with its path. Total for any JSON of a sound shape, which decodeMeta sees to (limits.ts). */
  readonly decode: (object: RawObject) => Either<NonEmptyArray<Problem>, KindSpecs[K]>;
  /**
   * The part of the raw object whose change matters; what is outside is not journalled and pushes nothing. Total, and idempotent:
   * the projection of a projection is itself. Decoding the object or its projection gives the same.
   */
  readonly project: (object: RawObject) => JsonObject;
  /** Only the projection is journalled: the rest is large, or changes all the time, and is never going to be read. */
  readonly trim?: true;
  /** Nothing is read but the metadata: a source that can do so need not even fetch the rest. */
  readonly metadataOnly?: true;
  /** Secondary index entries of an object: index name → keys under which it is found; the same names for every object of the kind. (A method: it is called with its own kind only.) */
  indexes(obj: Obj<K>): IndexEntries;
  /** What the object refers to, as written; absent for kinds that refer to nothing. */
  references?(obj: Obj<K>): readonly Reference[];
}
export type IndexEntries = Readonly<Partial<Record<IndexName, readonly string[]>>>;

/** Secondary indexes: name → meaning of the key. */
export interface Indexes {
  /** `cluster/namespace/service` → EndpointSlice */
  readonly slicesByService: 'EndpointSlice';
  /** `cluster/namespace/pod` → EndpointSlice */
  readonly slicesByPod: 'EndpointSlice';
  /** `cluster/namespace/ip` → EndpointSlice whose address has no pod reference */
  readonly slicesByIp: 'EndpointSlice';
  /** `cluster/ip` → Pod */
  readonly podsByIp: 'Pod';
  /** `cluster/node` → Pod */
  readonly podsByNode: 'Pod';
  /** `namespace/ip` → Pod, of all clusters */
  readonly podsByAddress: 'Pod';
  /** `namespace` → Pod, of all clusters */
  readonly podsByNamespace: 'Pod';
  /** `namespace/name` → Service, of all clusters */
  readonly servicesByName: 'Service';
  /** ClusterIP, ExternalName, … → Service */
  readonly servicesByType: 'Service';
  /** `namespace/name` → ServiceImport, of all clusters */
  readonly importsByName: 'ServiceImport';
  /** `gateway` → Service with the label `topology.istio.io/network`: another network may be reached through it */
  readonly networkGatewayServices: 'Service';
  /** `issuer jwksUri` → JwksDocument, see periplus/jwks-document.ts */
  readonly jwksByIssuer: 'JwksDocument';
  /** `host` → ServiceEntry */
  readonly serviceEntriesByHost: 'ServiceEntry';
  /** `namespace/selectorKey` of those that select workloads, see registry/selection.ts → ServiceEntry */
  readonly serviceEntriesBySelector: 'ServiceEntry';
  /** `namespace/address` of its own endpoints → ServiceEntry */
  readonly serviceEntriesByAddress: 'ServiceEntry';
  /** `namespace/label=value` for each label → WorkloadEntry */
  readonly workloadEntriesByLabel: 'WorkloadEntry';
  /** `address` → WorkloadEntry */
  readonly workloadEntriesByAddress: 'WorkloadEntry';
}
export type IndexName = keyof Indexes;
