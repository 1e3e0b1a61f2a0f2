// Every kind, found by an object's apiVersion and kind. One line a kind: the compiler refuses a kind of KindTypes that
// is missing here.

import type { Json } from '../base/json.ts';
import type { IndexName, KindName } from '../model/kind.ts';
import type { KindDefinition } from './definition.ts';
import { backendTlsPolicy } from './gateway-api/backend-tls-policy.ts';
import { backendTrafficPolicy } from './gateway-api/backend-traffic-policy.ts';
import { gatewayClass } from './gateway-api/gateway-class.ts';
import { grpcRoute } from './gateway-api/grpc-route.ts';
import { httpRoute } from './gateway-api/http-route.ts';
import { inferencePool } from './gateway-api/inference-pool.ts';
import { kubernetesGateway } from './gateway-api/kubernetes-gateway.ts';
import { listenerSet } from './gateway-api/listener-set.ts';
import { referenceGrant } from './gateway-api/reference-grant.ts';
import { tcpRoute } from './gateway-api/tcp-route.ts';
import { tlsRoute } from './gateway-api/tls-route.ts';
import { udpRoute } from './gateway-api/udp-route.ts';
import { authorizationPolicy } from './istio/authorization-policy.ts';
import { destinationRule } from './istio/destination-rule.ts';
import { envoyFilter } from './istio/envoy-filter.ts';
import { gateway } from './istio/gateway.ts';
import { peerAuthentication } from './istio/peer-authentication.ts';
import { proxyConfig } from './istio/proxy-config.ts';
import { requestAuthentication } from './istio/request-authentication.ts';
import { serviceEntry } from './istio/service-entry.ts';
import { sidecar } from './istio/sidecar.ts';
import { telemetry } from './istio/telemetry.ts';
import { trafficExtension } from './istio/traffic-extension.ts';
import { virtualService } from './istio/virtual-service.ts';
import { wasmPlugin } from './istio/wasm-plugin.ts';
import { workloadEntry } from './istio/workload-entry.ts';
import { workloadGroup } from './istio/workload-group.ts';
import { clusterTrustBundle } from './kubernetes/cluster-trust-bundle.ts';
import { configMap } from './kubernetes/config-map.ts';
import { endpointSlice } from './kubernetes/endpoint-slice.ts';
import { endpoints } from './kubernetes/endpoints.ts';
import { ingress, ingressClass } from './kubernetes/ingress.ts';
import {
  certificateSigningRequest,
  customResourceDefinition,
  daemonSet,
  deployment,
  horizontalPodAutoscaler,
  lease,
  podDisruptionBudget,
  serviceAccount,
  statefulSet,
} from './kubernetes/metadata-only.ts';
import { namespace } from './kubernetes/namespace.ts';
import { node } from './kubernetes/node.ts';
import { pod } from './kubernetes/pod.ts';
import { secret } from './kubernetes/secret.ts';
import { service } from './kubernetes/service.ts';
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from './kubernetes/webhook-configuration.ts';
import { serviceExport, serviceImport } from './mcs/multi-cluster-services.ts';
import { analysisReport } from './periplus/analysis-report.ts';
import { configDistribution } from './periplus/config-distribution.ts';
import { secretAccess, spiffeBundle, tokenIssuer, trustAnchors, workloadCertificate } from './periplus/identity.ts';
import { jwksDocument } from './periplus/jwks-document.ts';
import { remoteGateway, remoteWorkloadEntry } from './periplus/remote.ts';
import { resolvedName } from './periplus/resolved-name.ts';
import { workloadRegistration } from './periplus/workload-registration.ts';
import { leadership, webhookProof, writeRefusal } from './periplus/writes.ts';

export const definitions: { readonly [K in KindName]: KindDefinition<K> } = {
  AuthorizationPolicy: authorizationPolicy,
  BackendTLSPolicy: backendTlsPolicy,
  GRPCRoute: grpcRoute,
  GatewayClass: gatewayClass,
  HTTPRoute: httpRoute,
  InferencePool: inferencePool,
  KubernetesGateway: kubernetesGateway,
  ListenerSet: listenerSet,
  ReferenceGrant: referenceGrant,
  TCPRoute: tcpRoute,
  TLSRoute: tlsRoute,
  UDPRoute: udpRoute,
  XBackendTrafficPolicy: backendTrafficPolicy,
  Ingress: ingress,
  IngressClass: ingressClass,
  ConfigMap: configMap,
  DestinationRule: destinationRule,
  EndpointSlice: endpointSlice,
  Endpoints: endpoints,
  EnvoyFilter: envoyFilter,
  Gateway: gateway,
  Namespace: namespace,
  Node: node,
  PeerAuthentication: peerAuthentication,
  Pod: pod,
  ProxyConfig: proxyConfig,
  RequestAuthentication: requestAuthentication,
  Secret: secret,
  Service: service,
  ServiceEntry: serviceEntry,
  Sidecar: sidecar,
  Telemetry: telemetry,
  TrafficExtension: trafficExtension,
  VirtualService: virtualService,
  WasmPlugin: wasmPlugin,
  WorkloadEntry: workloadEntry,
  WorkloadGroup: workloadGroup,
  CertificateSigningRequest: certificateSigningRequest,
  ClusterTrustBundle: clusterTrustBundle,
  CustomResourceDefinition: customResourceDefinition,
  DaemonSet: daemonSet,
  Deployment: deployment,
  HorizontalPodAutoscaler: horizontalPodAutoscaler,
  Lease: lease,
  MutatingWebhookConfiguration: mutatingWebhookConfiguration,
  PodDisruptionBudget: podDisruptionBudget,
  ServiceAccount: serviceAccount,
  ServiceExport: serviceExport,
  ServiceImport: serviceImport,
  StatefulSet: statefulSet,
  ValidatingWebhookConfiguration: validatingWebhookConfiguration,
  AnalysisReport: analysisReport,
  ConfigDistribution: configDistribution,
  JwksDocument: jwksDocument,
  Leadership: leadership,
  RemoteGateway: remoteGateway,
  RemoteWorkloadEntry: remoteWorkloadEntry,
  ResolvedName: resolvedName,
  WebhookProof: webhookProof,
  WorkloadRegistration: workloadRegistration,
  WriteRefusal: writeRefusal,
  SecretAccess: secretAccess,
  SpiffeBundle: spiffeBundle,
  TokenIssuer: tokenIssuer,
  TrustAnchors: trustAnchors,
  WorkloadCertificate: workloadCertificate,
};

/** Sorted. */
export const kindNames: readonly KindName[] = (Object.keys(definitions) as KindName[]).sort();

/** Sorted. */
export const indexNames: readonly IndexName[] = kindNames.flatMap(kind => definitions[kind].indexNames).sort();

/** By what objects call the kind, then by apiVersion. */
const byKind: ReadonlyMap<string, ReadonlyMap<string, KindDefinition>> = definitionsByKind();

function definitionsByKind(): ReadonlyMap<string, ReadonlyMap<string, KindDefinition>> {
  const found = new Map<string, Map<string, KindDefinition>>();
  for (const name of kindNames) {
    const definition: KindDefinition = definitions[name];
    const { group, versions, kind, objectKind = kind } = definition;
    const ofKind = found.get(objectKind) ?? new Map<string, KindDefinition>();
    for (const version of versions) ofKind.set(group === '' ? version : `${group}/${version}`, definition);
    found.set(objectKind, ofKind);
  }
  return found;
}

/** Groups of which every kind and version is known: another one is a mistake, not another project's. */
const istioGroups: ReadonlySet<string> = new Set(
  kindNames.map(name => definitions[name].group).filter(group => group.endsWith('.istio.io')),
);

/** The kind is another project's: its objects are skipped without a problem. */
export function isForeign(apiVersion: string, kind: string): boolean {
  return definitionOf(apiVersion, kind) === undefined && !istioGroups.has(apiVersion.split('/')[0]!);
}

/**
 * The definition of `apiVersion` and `kind`, e.g. `networking.istio.io/v1` and `Gateway`; undefined for kinds unknown
 * to Periplus.
 */
export function definitionOf(apiVersion: Json | undefined, kind: Json | undefined): KindDefinition | undefined {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  return byKind.get(kind)?.get(apiVersion);
}
