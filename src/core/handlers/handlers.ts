// What a change of one object asks to be pushed: the handler of its kind, under Istio's name for it, compares before and after.
// A handler may ask for too much (the tracker finds that nothing differs), never for too little: law 2 rests on it.

import { unreachable } from '../base/assert.ts';
import type { PushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import type { Change } from './change.ts';
import { configHandler, virtualServiceHandler } from './config.ts';
import { endpointSliceHandler, endpointsHandler, nodeHandler, podHandler } from './endpoints.ts';
import { jwksDocumentHandler } from './jwks-document.ts';
import { serviceExportHandler, serviceImportHandler } from './multi-cluster-services.ts';
import { namespaceHandler } from './namespace.ts';
import { resolvedNameHandler } from './resolved-name.ts';
import { revisionTagHandler } from './revision-tag.ts';
import { configMapHandler, secretHandler } from './secret.ts';
import { serviceHandler } from './service.ts';
import { serviceEntryHandler } from './service-entry.ts';
import { workloadEntryHandler } from './workload-entry.ts';

/** Undefined: nothing that any proxy could see has changed. */
export function changeHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const { kind } = change;
  switch (kind) {
    case 'AuthorizationPolicy':
    case 'DestinationRule':
    case 'EnvoyFilter':
    case 'Gateway':
    case 'PeerAuthentication':
    case 'ProxyConfig':
    case 'RequestAuthentication':
    case 'Sidecar':
    case 'Telemetry':
    case 'TrafficExtension':
    case 'WasmPlugin':
      return configHandler(change);
    case 'VirtualService':
      return virtualServiceHandler(after, change);
    case 'Service':
      return serviceHandler(before, after, change);
    case 'ServiceEntry':
      return serviceEntryHandler(before, after, change);
    case 'WorkloadEntry':
      return workloadEntryHandler(before, after, change);
    case 'EndpointSlice':
      return endpointSliceHandler(before, after, change);
    case 'Endpoints':
      return endpointsHandler(before, after, change);
    case 'ServiceExport':
      return serviceExportHandler(after, change);
    case 'ServiceImport':
      return serviceImportHandler(before, after, change);
    case 'JwksDocument':
      return jwksDocumentHandler(change);
    case 'ResolvedName':
      return resolvedNameHandler(before, after, change);
    case 'Pod':
      return podHandler(before, after, change);
    case 'Node':
      return nodeHandler(before, after, change);
    case 'Namespace':
      return namespaceHandler(before, after, change);
    case 'Secret':
      return secretHandler(change);
    case 'ConfigMap':
      return configMapHandler(after, change);
    case 'MutatingWebhookConfiguration':
    case 'ValidatingWebhookConfiguration':
      return revisionTagHandler(change);
    case 'WorkloadGroup':
    // Nothing of what proxies are sent is made of these.
    case 'CertificateSigningRequest':
    case 'ClusterTrustBundle':
    case 'CustomResourceDefinition':
    case 'DaemonSet':
    case 'Deployment':
    case 'HorizontalPodAutoscaler':
    case 'Lease':
    case 'PodDisruptionBudget':
    case 'ServiceAccount':
    case 'StatefulSet':
    // Nothing is generated from these yet (`notYet` of their definitions).
    case 'BackendTLSPolicy':
    case 'GRPCRoute':
    case 'GatewayClass':
    case 'HTTPRoute':
    case 'InferencePool':
    case 'Ingress':
    case 'IngressClass':
    case 'KubernetesGateway':
    case 'ListenerSet':
    case 'ReferenceGrant':
    case 'TCPRoute':
    case 'TLSRoute':
    case 'UDPRoute':
    case 'XBackendTrafficPolicy':
      return undefined;
    default:
      return unreachable(kind);
  }
}
