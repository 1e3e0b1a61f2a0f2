// Every kind, found by what an object calls itself.

import type { Json } from '../json.ts';
import { authorizationPolicy } from './authorization-policy.ts';
import { clusterTrustBundle } from './cluster-trust-bundle.ts';
import { configMap } from './config-map.ts';
import { destinationRule } from './destination-rule.ts';
import { endpointSlice } from './endpoint-slice.ts';
import { endpoints } from './endpoints.ts';
import { envoyFilter } from './envoy-filter.ts';
import { gateway } from './gateway.ts';
import {
  backendTlsPolicy,
  backendTrafficPolicy,
  gatewayClass,
  grpcRoute,
  httpRoute,
  inferencePool,
  kubernetesGateway,
  listenerSet,
  referenceGrant,
  tcpRoute,
  tlsRoute,
  udpRoute,
} from './gateway-api.ts';
import { ingress, ingressClass } from './ingress.ts';
import type { Indexes, IndexName, KindDefinition, KindName } from './kinds.ts';
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
} from './metadata-only.ts';
import { serviceExport, serviceImport } from './multi-cluster-services.ts';
import { namespace } from './namespace.ts';
import { node } from './node.ts';
import { peerAuthentication } from './peer-authentication.ts';
import { pod } from './pod.ts';
import { proxyConfig } from './proxy-config.ts';
import { requestAuthentication } from './request-authentication.ts';
import { resolvedName } from './resolved-name.ts';
import { secret } from './secret.ts';
import { service } from './service.ts';
import { serviceEntry } from './service-entry.ts';
import { sidecar } from './sidecar.ts';
import { telemetry } from './telemetry.ts';
import { trafficExtension } from './traffic-extension.ts';
import { virtualService } from './virtual-service.ts';
import { wasmPlugin } from './wasm-plugin.ts';
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from './webhook-configuration.ts';
import { workloadEntry } from './workload-entry.ts';
import { workloadGroup } from './workload-group.ts';

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
  ResolvedName: resolvedName,
};

/** Sorted. */
export const kindNames: readonly KindName[] = (Object.keys(definitions) as KindName[]).sort();

const indexMeanings: Indexes = {
  slicesByService: 'EndpointSlice',
  slicesByPod: 'EndpointSlice',
  slicesByIp: 'EndpointSlice',
  podsByAddress: 'Pod',
  podsByIp: 'Pod',
  podsByNode: 'Pod',
  podsByNamespace: 'Pod',
  servicesByName: 'Service',
  servicesByType: 'Service',
  importsByName: 'ServiceImport',
  networkGatewayServices: 'Service',
  serviceEntriesByHost: 'ServiceEntry',
  serviceEntriesByAddress: 'ServiceEntry',
  serviceEntriesBySelector: 'ServiceEntry',
  workloadEntriesByLabel: 'WorkloadEntry',
  workloadEntriesByAddress: 'WorkloadEntry',
};
/** Sorted. */
export const indexNames: readonly IndexName[] = (Object.keys(indexMeanings) as IndexName[]).sort();

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

/** Of these every kind and version is known: another one is a mistake, not somebody else's. */
const istioGroups: ReadonlySet<string> = new Set(
  kindNames.map(name => definitions[name].group).filter(group => group.endsWith('.istio.io')),
);

/** Objects of this kind are another project's: they are none of our business, and nothing is wrong with them. */
export function isForeign(apiVersion: string, kind: string): boolean {
  return definitionOf(apiVersion, kind) === undefined && !istioGroups.has(apiVersion.split('/')[0]!);
}

/** The definition of `apiVersion` and `kind`, e.g. `networking.istio.io/v1` and `Gateway`; undefined for kinds unknown to Periplus. */
export function definitionOf(apiVersion: Json | undefined, kind: Json | undefined): KindDefinition | undefined {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  return byKind.get(kind)?.get(apiVersion);
}
