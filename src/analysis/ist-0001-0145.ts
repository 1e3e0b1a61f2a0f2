// Messages of istioctl 1.30.3, IST0001 to IST0145: codes, levels and texts are compared by scripts, so they are the
// same here. docs/analysis.md says where each code is found and what is expected of its author.
// Source: Istio pkg/config/analysis/msg/messages.yaml.

import { list, message, quoted } from './wording.ts';

export const internalError = message(
  'IST0001',
  'InternalError',
  'Error',
  (detail: string) => `Internal error: ${detail}`,
);
export const deprecated = message('IST0002', 'Deprecated', 'Warning', (detail: string) => `Deprecated: ${detail}`);
export const referencedResourceNotFound = message(
  'IST0101',
  'ReferencedResourceNotFound',
  'Error',
  (reftype: string, refval: string) => `Referenced ${reftype} not found: ${quoted(refval)}`,
);
export const namespaceNotInjected = message(
  'IST0102',
  'NamespaceNotInjected',
  'Info',
  (namespace: string, namespace2: string) =>
    `The namespace is not enabled for Istio injection. Run 'kubectl label namespace ${namespace} istio-injection=enabled' to enable it, or 'kubectl label namespace ${namespace2} istio-injection=disabled' to explicitly mark it as not needing injection.`,
);
export const podMissingProxy = message(
  'IST0103',
  'PodMissingProxy',
  'Warning',
  (podName: string) =>
    `The pod ${podName} is missing the Istio proxy. This can often be resolved by restarting or redeploying the workload.`,
);
export const schemaValidationError = message(
  'IST0106',
  'SchemaValidationError',
  'Error',
  (err: string) => `Schema validation error: ${err}`,
);
export const misplacedAnnotation = message(
  'IST0107',
  'MisplacedAnnotation',
  'Warning',
  (annotation: string, kind: string) => `Misplaced annotation: ${annotation} can only be applied to ${kind}`,
);
export const unknownAnnotation = message(
  'IST0108',
  'UnknownAnnotation',
  'Warning',
  (annotation: string) => `Unknown annotation: ${annotation}`,
);
export const conflictingMeshGatewayVirtualServiceHosts = message(
  'IST0109',
  'ConflictingMeshGatewayVirtualServiceHosts',
  'Error',
  (virtualServices: string, host: string) =>
    `The VirtualServices ${virtualServices} associated with mesh gateway define the same host ${host} which can lead to undefined behavior. This can be fixed by merging the conflicting VirtualServices into a single resource.`,
);
export const conflictingSidecarWorkloadSelectors = message(
  'IST0110',
  'ConflictingSidecarWorkloadSelectors',
  'Error',
  (conflictingSidecars: readonly string[], namespace: string, workloadPod: string) =>
    `The Sidecars ${list(conflictingSidecars)} in namespace ${quoted(namespace)} select the same workload pod ${quoted(workloadPod)}, which can lead to undefined behavior.`,
);
export const multipleSidecarsWithoutWorkloadSelectors = message(
  'IST0111',
  'MultipleSidecarsWithoutWorkloadSelectors',
  'Error',
  (conflictingSidecars: readonly string[], namespace: string) =>
    `The Sidecars ${list(conflictingSidecars)} in namespace ${quoted(namespace)} have no workload selector, which can lead to undefined behavior.`,
);
export const virtualServiceDestinationPortSelectorRequired = message(
  'IST0112',
  'VirtualServiceDestinationPortSelectorRequired',
  'Error',
  (destHost: string, destPorts: readonly number[]) =>
    `This VirtualService routes to a service ${quoted(destHost)} that exposes multiple ports ${list(destPorts)}. Specifying a port in the destination is required to disambiguate.`,
);
export const deploymentAssociatedToMultipleServices = message(
  'IST0116',
  'DeploymentAssociatedToMultipleServices',
  'Warning',
  (deployment: string, port: number, services: readonly string[]) =>
    `This deployment ${deployment} is associated with multiple services using port ${port} but different protocols: ${list(services)}`,
);
export const portNameIsNotUnderNamingConvention = message(
  'IST0118',
  'PortNameIsNotUnderNamingConvention',
  'Info',
  (portName: string, port: number, targetPort: string) =>
    `Port name ${portName} (port: ${port}, targetPort: ${targetPort}) doesn't follow the naming convention of Istio port.`,
);
export const namespaceMultipleInjectionLabels = message(
  'IST0123',
  'NamespaceMultipleInjectionLabels',
  'Warning',
  (labels: readonly string[]) =>
    `The namespace has more than one type of injection labels ${list(labels)}, which may lead to undefined behavior. Make sure only one injection label exists.`,
);
export const invalidAnnotation = message(
  'IST0125',
  'InvalidAnnotation',
  'Warning',
  (annotation: string, problem: string) => `Invalid annotation ${annotation}: ${problem}`,
);
export const unknownMeshNetworksServiceRegistry = message(
  'IST0126',
  'UnknownMeshNetworksServiceRegistry',
  'Error',
  (serviceregistry: string, network: string) => `Unknown service registry ${serviceregistry} in network ${network}`,
);
export const noMatchingWorkloadsFound = message(
  'IST0127',
  'NoMatchingWorkloadsFound',
  'Warning',
  (labels: string) => `No matching workloads for this resource with the following labels: ${labels}`,
);
export const noServerCertificateVerificationDestinationLevel = message(
  'IST0128',
  'NoServerCertificateVerificationDestinationLevel',
  'Warning',
  (destinationrule: string, namespace: string, mode: string, host: string) =>
    `DestinationRule ${destinationrule} in namespace ${namespace} has TLS mode set to ${mode} but no caCertificates are set to validate server identity for host: ${host}`,
);
export const noServerCertificateVerificationPortLevel = message(
  'IST0129',
  'NoServerCertificateVerificationPortLevel',
  'Warning',
  (destinationrule: string, namespace: string, mode: string, host: string, port: string) =>
    `DestinationRule ${destinationrule} in namespace ${namespace} has TLS mode set to ${mode} but no caCertificates are set to validate server identity for host: ${host} at port ${port}`,
);
export const virtualServiceUnreachableRule = message(
  'IST0130',
  'VirtualServiceUnreachableRule',
  'Warning',
  (ruleno: string, reason: string) => `VirtualService rule ${ruleno} not used (${reason}).`,
);
export const virtualServiceIneffectiveMatch = message(
  'IST0131',
  'VirtualServiceIneffectiveMatch',
  'Info',
  (ruleno: string, matchno: string, dupno: string) =>
    `VirtualService rule ${ruleno} match ${matchno} is not used (duplicate/overlapping match in rule ${dupno}).`,
);
export const virtualServiceHostNotFoundInGateway = message(
  'IST0132',
  'VirtualServiceHostNotFoundInGateway',
  'Warning',
  (host: readonly string[], virtualservice: string, gateway: string) =>
    `one or more host ${list(host)} defined in VirtualService ${virtualservice} not found in Gateway ${gateway}.`,
);
export const schemaWarning = message(
  'IST0133',
  'SchemaWarning',
  'Warning',
  (err: string) => `Schema validation warning: ${err}`,
);
export const serviceEntryAddressesRequired = message(
  'IST0134',
  'ServiceEntryAddressesRequired',
  'Warning',
  () => 'ServiceEntry addresses are required for this protocol.',
);
export const deprecatedAnnotation = message(
  'IST0135',
  'DeprecatedAnnotation',
  'Info',
  (annotation: string, extra: string) =>
    `Annotation ${quoted(annotation)} has been deprecated${extra} and may not work in future Istio versions.`,
);
export const alphaAnnotation = message(
  'IST0136',
  'AlphaAnnotation',
  'Info',
  (annotation: string) =>
    `Annotation ${quoted(annotation)} is part of an alpha-phase feature and may be incompletely supported.`,
);
export const deploymentConflictingPorts = message(
  'IST0137',
  'DeploymentConflictingPorts',
  'Warning',
  (deployment: string, services: readonly string[], targetPort: string, ports: readonly number[]) =>
    `This deployment ${deployment} is associated with multiple services ${list(services)} using targetPort ${quoted(targetPort)} but different ports: ${list(ports)}.`,
);
export const gatewayDuplicateCertificate = message(
  'IST0138',
  'GatewayDuplicateCertificate',
  'Warning',
  (gateways: readonly string[]) =>
    `Duplicate certificate in multiple gateways ${list(gateways)} may cause 404s if clients re-use HTTP2 connections.`,
);
export const invalidWebhook = message('IST0139', 'InvalidWebhook', 'Error', (error: string) => `${error}`);
export const ingressRouteRulesNotAffected = message(
  'IST0140',
  'IngressRouteRulesNotAffected',
  'Warning',
  (virtualservicesubset: string, virtualservice: string) =>
    `Subset in virtual service ${virtualservicesubset} has no effect on ingress gateway ${virtualservice} requests`,
);
export const insufficientPermissions = message(
  'IST0141',
  'InsufficientPermissions',
  'Error',
  (resource: string, error: string) => `Missing required permission to create resource ${resource} (${error})`,
);
export const unsupportedKubernetesVersion = message(
  'IST0142',
  'UnsupportedKubernetesVersion',
  'Error',
  (version: string, minimumVersion: string) =>
    `The Kubernetes Version ${quoted(version)} is lower than the minimum version: ${minimumVersion}`,
);
export const localhostListener = message(
  'IST0143',
  'LocalhostListener',
  'Error',
  (port: string) =>
    `Port ${port} is exposed in a Service but listens on localhost. It will not be exposed to other pods.`,
);
export const invalidApplicationUID = message(
  'IST0144',
  'InvalidApplicationUID',
  'Warning',
  () => 'User ID (UID) 1337 is reserved for the sidecar proxy.',
);
export const conflictingGateways = message(
  'IST0145',
  'ConflictingGateways',
  'Error',
  (gateway: string, selector: string, portnumber: string, hosts: string) =>
    `Conflict with gateways ${gateway} (workload selector ${selector}, port ${portnumber}, hosts ${hosts}).`,
);
