// Messages of istioctl 1.30.3, IST0146 to IST0176: codes, levels and texts are compared by scripts, so they are the
// same here. docs/analysis.md says where each code is found and what is expected of its author.
// Source: Istio pkg/config/analysis/msg/messages.yaml.

import { list, message, quoted, quotedList } from './wording.ts';

export const imageAutoWithoutInjectionWarning = message(
  'IST0146',
  'ImageAutoWithoutInjectionWarning',
  'Warning',
  (resourceType: string, resourceName: string) =>
    `${resourceType} ${resourceName} contains \`image: auto\` but does not match any Istio injection webhook selectors.`,
);
export const imageAutoWithoutInjectionError = message(
  'IST0147',
  'ImageAutoWithoutInjectionError',
  'Error',
  (resourceType: string, resourceName: string) =>
    `${resourceType} ${resourceName} contains \`image: auto\` but does not match any Istio injection webhook selectors.`,
);
export const namespaceInjectionEnabledByDefault = message(
  'IST0148',
  'NamespaceInjectionEnabledByDefault',
  'Info',
  () => 'is enabled for Istio injection, as Istio is installed with enableNamespacesByDefault as true.',
);
export const jwtClaimBasedRoutingWithoutRequestAuthN = message(
  'IST0149',
  'JwtClaimBasedRoutingWithoutRequestAuthN',
  'Error',
  (key: string, gateway: string, pod: string) =>
    `The virtual service uses the JWT claim based routing (key: ${key}) but found no request authentication for the gateway (${gateway}) pod (${pod}). The request authentication must first be applied for the gateway pods to validate the JWT token and make the claims available for routing.`,
);
export const externalNameServiceTypeInvalidPortName = message(
  'IST0150',
  'ExternalNameServiceTypeInvalidPortName',
  'Warning',
  () =>
    'Port name for ExternalName service is invalid. Proxy may prevent tcp named ports and unmatched traffic for ports serving TCP protocol from being forwarded correctly',
);
export const envoyFilterUsesRelativeOperation = message(
  'IST0151',
  'EnvoyFilterUsesRelativeOperation',
  'Warning',
  () =>
    'This EnvoyFilter does not have a priority and has a relative patch operation set which can cause the EnvoyFilter not to be applied. Using the INSERT_FIRST of ADD option or setting the priority may help in ensuring the EnvoyFilter is applied correctly.',
);
export const envoyFilterUsesReplaceOperationIncorrectly = message(
  'IST0152',
  'EnvoyFilterUsesReplaceOperationIncorrectly',
  'Error',
  () => 'The REPLACE operation is only valid for HTTP_FILTER and NETWORK_FILTER.',
);
export const envoyFilterUsesAddOperationIncorrectly = message(
  'IST0153',
  'EnvoyFilterUsesAddOperationIncorrectly',
  'Error',
  () => 'The ADD operation will be ignored when applyTo is set to ROUTE_CONFIGURATION, or HTTP_ROUTE.',
);
export const envoyFilterUsesRemoveOperationIncorrectly = message(
  'IST0154',
  'EnvoyFilterUsesRemoveOperationIncorrectly',
  'Error',
  () => 'The REMOVE operation will be ignored when applyTo is set to ROUTE_CONFIGURATION, or HTTP_ROUTE.',
);
export const envoyFilterUsesRelativeOperationWithProxyVersion = message(
  'IST0155',
  'EnvoyFilterUsesRelativeOperationWithProxyVersion',
  'Warning',
  () =>
    'This EnvoyFilter does not have a priority and has a relative patch operation (NSTERT_BEFORE/AFTER, REPLACE, MERGE, DELETE) and proxyVersion set which can cause the EnvoyFilter not to be applied during an upgrade. Using the INSERT_FIRST or ADD option or setting the priority may help in ensuring the EnvoyFilter is applied correctly.',
);
export const unsupportedGatewayAPIVersion = message(
  'IST0156',
  'UnsupportedGatewayAPIVersion',
  'Error',
  (version: string, minimumVersion: string) =>
    `The Gateway API CRD version ${version} is lower than the minimum version: ${minimumVersion}`,
);
export const futureUnsupportedGatewayAPIVersion = message(
  'IST0172',
  'FutureUnsupportedGatewayAPIVersion',
  'Warning',
  (version: string, minimumVersion: string) =>
    `The Gateway API CRD version ${version} is lower than the minimum version: ${minimumVersion}`,
);
export const invalidTelemetryProvider = message(
  'IST0157',
  'InvalidTelemetryProvider',
  'Warning',
  (name: string, namespace: string) =>
    `The Telemetry ${name} in namespace ${quoted(namespace)} with empty providers will be ignored.`,
);
export const podsIstioProxyImageMismatchInNamespace = message(
  'IST0158',
  'PodsIstioProxyImageMismatchInNamespace',
  'Warning',
  (podNames: readonly string[]) =>
    `The Istio proxy images of the pods running in the namespace do not match the image defined in the injection configuration (pod names: ${list(podNames)}). This often happens after upgrading the Istio control-plane and can be fixed by redeploying the pods.`,
);
export const conflictingTelemetryWorkloadSelectors = message(
  'IST0159',
  'ConflictingTelemetryWorkloadSelectors',
  'Error',
  (conflictingTelemetries: readonly string[], namespace: string, workloadPod: string) =>
    `The Telemetries ${list(conflictingTelemetries)} in namespace ${quoted(namespace)} select the same workload pod ${quoted(workloadPod)}, which can lead to undefined behavior.`,
);
export const multipleTelemetriesWithoutWorkloadSelectors = message(
  'IST0160',
  'MultipleTelemetriesWithoutWorkloadSelectors',
  'Error',
  (conflictingTelemetries: readonly string[], namespace: string) =>
    `The Telemetries ${list(conflictingTelemetries)} in namespace ${quoted(namespace)} have no workload selector, which can lead to undefined behavior.`,
);
export const invalidGatewayCredential = message(
  'IST0161',
  'InvalidGatewayCredential',
  'Error',
  (gatewayName: string, gatewayNamespace: string) =>
    `The credential referenced by the Gateway ${gatewayName} in namespace ${gatewayNamespace} is invalid, which can cause the traffic not to work as expected.`,
);
export const gatewayPortNotDefinedOnService = message(
  'IST0162',
  'GatewayPortNotDefinedOnService',
  'Warning',
  (port: number, selector: string) =>
    `The gateway is listening on a target port (port ${port}) that is not defined in the Service associated with its workload instances (Pod selector ${selector}). If you need to access the gateway port through the gateway Service, it will not be available.`,
);
export const invalidExternalControlPlaneConfig = message(
  'IST0163',
  'InvalidExternalControlPlaneConfig',
  'Warning',
  (hostname: string, webhook: string, msg: string) =>
    `The hostname (${hostname}) that was provided for the webhook (${webhook}) to reach the ingress gateway on the external control plane cluster ${msg}. Traffic may not flow properly.`,
);
export const externalControlPlaneAddressIsNotAHostname = message(
  'IST0164',
  'ExternalControlPlaneAddressIsNotAHostname',
  'Info',
  (hostname: string, webhook: string) =>
    `The address (${hostname}) that was provided for the webhook (${webhook}) to reach the ingress gateway on the external control plane cluster is an IP address. This is not recommended for a production environment.`,
);
export const referencedInternalGateway = message(
  'IST0165',
  'ReferencedInternalGateway',
  'Warning',
  (virtualservice: string, gateway: string) =>
    `Gateway reference in VirtualService ${virtualservice} is to an implementation-generated internal Gateway: ${gateway}.`,
);
export const ineffectiveSelector = message(
  'IST0166',
  'IneffectiveSelector',
  'Warning',
  (gateway: string) => `Ineffective selector on Kubernetes Gateway ${gateway}. Use the TargetRef field instead.`,
);
export const ineffectivePolicy = message(
  'IST0167',
  'IneffectivePolicy',
  'Warning',
  (reason: string) => `The policy has no impact: ${reason}.`,
);
export const unknownUpgradeCompatibility = message(
  'IST0168',
  'UnknownUpgradeCompatibility',
  'Warning',
  (field: string, release: string, info: string, compatVersion: string) =>
    `The configuration ${quoted(field)} changed in release ${release}, but compatibility cannot be automatically detected: ${info}. Or, install with \`--set compatibilityVersion=${compatVersion}\` to retain the old default.`,
);
export const updateIncompatibility = message(
  'IST0169',
  'UpdateIncompatibility',
  'Warning',
  (field: string, release: string, info: string, compatVersion: string) =>
    `The configuration ${quoted(field)} changed in release ${release}: ${info}. Or, install with \`--set compatibilityVersion=${compatVersion}\` to retain the old default.`,
);
export const multiClusterInconsistentService = message(
  'IST0170',
  'MultiClusterInconsistentService',
  'Warning',
  (serviceName: string, namespace: string, clusters: readonly string[], error: string) =>
    `The service ${serviceName} in namespace ${quoted(namespace)} is inconsistent across clusters ${quotedList(clusters)}, which can lead to undefined behaviors. The inconsistent behaviors are: ${error}.`,
);
export const negativeConditionStatus = message(
  'IST0171',
  'NegativeConditionStatus',
  'Warning',
  (conditionType: string, reason: string, message: string) =>
    `A condition with a negative status is present: type=${conditionType}, reason=${reason}, message=${message}.`,
);
export const destinationRuleSubsetNotSelectPods = message(
  'IST0173',
  'DestinationRuleSubsetNotSelectPods',
  'Error',
  (subset: string) =>
    `The Subset ${subset} defined in the DestinationRule does not select any pods. Which may lead to 503 UH (NoHealthyUpstream).`,
);
export const unknownDestinationRuleHost = message(
  'IST0174',
  'UnknownDestinationRuleHost',
  'Warning',
  (host: string) => `The host ${host} defined in the DestinationRule does not match any services in the mesh.`,
);
export const jwksUriFetchUnrestricted = message(
  'IST0175',
  'JwksUriFetchUnrestricted',
  'Warning',
  (count: number, names: string) =>
    `BLOCKED_CIDRS_IN_JWKS_URIS is not configured but ${count} RequestAuthentication resource(s) exist (${names}). Consider configuring it to restrict JWKS URI fetches to trusted networks.`,
);
export const gatewayAPICRDVersionBelowMinimum = message(
  'IST0176',
  'GatewayAPICRDVersionBelowMinimum',
  'Warning',
  (crd: string, installedVersion: string, minimumVersion: string) =>
    `Gateway API CRD ${quoted(crd)} is at version ${quoted(installedVersion)} but Istio requires at least ${quoted(minimumVersion)}; resources of this kind will not be processed. Upgrade the Gateway API CRDs to satisfy the minimum version.`,
);
