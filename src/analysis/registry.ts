// All analyzers, one line each, in the order in which Istio lists them.
//
// The schema analyzer is not among them: the caller runs it over files, and has the verdicts of the state elsewhere.
// Source: Istio pkg/config/analysis/analyzers/all.go.

import type { Analyzer } from './analyzer.ts';
import { alphaAnnotations, annotations } from './analyzers/annotations.ts';
import { applicationUid } from './analyzers/application-uid.ts';
import { authorizationPolicies } from './analyzers/authorization-policies.ts';
import { blockedCidrs } from './analyzers/blocked-cidrs.ts';
import { conditions } from './analyzers/conditions.ts';
import { deploymentServices } from './analyzers/deployment-services.ts';
import { deprecatedFields } from './analyzers/deprecated-fields.ts';
import { destinationRuleCertificates } from './analyzers/destination-rule-certificates.ts';
import { destinationRuleSubsets } from './analyzers/destination-rule-subsets.ts';
import { envoyFilterOperations } from './analyzers/envoy-filter-operations.ts';
import { externalControlPlane } from './analyzers/external-control-plane.ts';
import { gatewayApiSelectors } from './analyzers/gateway-api-selectors.ts';
import { gatewayApiVersions } from './analyzers/gateway-api-versions.ts';
import { gatewayCertificates } from './analyzers/gateway-certificates.ts';
import { gatewayConflicts } from './analyzers/gateway-conflicts.ts';
import { gatewayPorts } from './analyzers/gateway-ports.ts';
import { gatewaySecrets } from './analyzers/gateway-secrets.ts';
import { injection } from './analyzers/injection.ts';
import { injectionAutoImage } from './analyzers/injection-auto-image.ts';
import { injectionImage } from './analyzers/injection-image.ts';
import { meshNetworks } from './analyzers/mesh-networks.ts';
import { multiclusterServices } from './analyzers/multicluster-services.ts';
import { portNames } from './analyzers/port-names.ts';
import { serviceEntryAddresses } from './analyzers/service-entry-addresses.ts';
import { sidecars } from './analyzers/sidecars.ts';
import { telemetryLightstep, telemetryProviders } from './analyzers/telemetry-providers.ts';
import { telemetryDefaults, telemetrySelectors } from './analyzers/telemetry-selectors.ts';
import { validationWarning } from './analyzers/validation-warning.ts';
import { virtualServiceGateways } from './analyzers/virtual-service-gateways.ts';
import { virtualServiceHosts } from './analyzers/virtual-service-hosts.ts';
import { virtualServiceJwt } from './analyzers/virtual-service-jwt.ts';
import { virtualServiceMeshHosts } from './analyzers/virtual-service-mesh-hosts.ts';
import { virtualServiceSubsets } from './analyzers/virtual-service-subsets.ts';
import { virtualServiceUnreachable } from './analyzers/virtual-service-unreachable.ts';
import { webhooks } from './analyzers/webhooks.ts';

export const analyzers: readonly Analyzer[] = [
  annotations,
  alphaAnnotations,
  blockedCidrs,
  authorizationPolicies,
  conditions,
  deploymentServices,
  applicationUid,
  destinationRuleCertificates,
  destinationRuleSubsets,
  deprecatedFields,
  envoyFilterOperations,
  externalControlPlane,
  gatewayPorts,
  gatewayCertificates,
  gatewaySecrets,
  gatewayConflicts,
  injection,
  injectionImage,
  injectionAutoImage,
  gatewayApiSelectors,
  gatewayApiVersions,
  meshNetworks,
  multiclusterServices,
  portNames,
  sidecars,
  virtualServiceMeshHosts,
  virtualServiceHosts,
  virtualServiceSubsets,
  virtualServiceGateways,
  virtualServiceJwt,
  serviceEntryAddresses,
  webhooks,
  telemetryProviders,
  telemetryLightstep,
  telemetrySelectors,
  telemetryDefaults,
  virtualServiceUnreachable,
  validationWarning,
];
