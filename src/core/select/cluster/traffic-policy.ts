// The traffic policy of a cluster, composed from those of a rule, of a port and of a subset.
// As in Istio, a port-level entry inherits nothing, and a policy replaces whole messages.
// Source: Istio pilot/pkg/networking/util/util.go (MergeSubsetTrafficPolicy, GetPortLevelTrafficPolicy).

import type {
  ClientTLSSettings_TLSmode,
  DestinationRule,
  Subset,
  TrafficPolicy,
  TrafficPolicy_PortTrafficPolicy,
} from '../../schema/istio-types.gen.ts';
import { subsetNamed } from '../scope/subsets.ts';

/** A policy for one cluster: no port-level settings left. */
export type ClusterPolicy = Omit<TrafficPolicy, 'portLevelSettings'>;

/** The policy of the default cluster of a service port. */
export function policyOfPort(policy: TrafficPolicy | undefined, port: number): ClusterPolicy | undefined {
  if (policy === undefined) return undefined;
  const entry = portEntry(policy, port);
  if (entry === undefined) return withoutPorts(policy);
  return fourFields(entry);
}

/** The policy of a subset's cluster, given the policy of the default cluster. */
export function policyOfSubset(
  base: ClusterPolicy | undefined,
  subset: Subset,
  port: number,
): ClusterPolicy | undefined {
  const own = subset.trafficPolicy;
  if (own === undefined) return base;
  const entry = portEntry(own, port);
  const chosen: ClusterPolicy = entry === undefined ? withoutPorts(own) : fourFields(entry);
  if (base === undefined) return chosen;
  if (entry !== undefined) return { ...base, ...fourFields(entry) };
  return {
    connectionPool: chosen.connectionPool ?? base.connectionPool,
    outlierDetection: chosen.outlierDetection ?? base.outlierDetection,
    loadBalancer: chosen.loadBalancer ?? base.loadBalancer,
    tls: chosen.tls ?? base.tls,
    tunnel: chosen.tunnel ?? base.tunnel,
    proxyProtocol: chosen.proxyProtocol ?? base.proxyProtocol,
    retryBudget: chosen.retryBudget ?? base.retryBudget,
  };
}

/**
 * The TLS mode that a rule sets for the endpoints of a port, or of a subset at a port; undefined when the rule sets
 * none. A subset does not inherit from its rule here. Source: Istio pilot/pkg/xds/endpoints/mtls_checker.go.
 */
export function endpointTlsModeOfRule(
  rule: DestinationRule | undefined,
  subsetName: string,
  port: number,
): ClientTLSSettings_TLSmode | undefined {
  if (rule === undefined) return undefined;
  const policy = subsetName === '' ? rule.trafficPolicy : subsetNamed(rule, subsetName)?.trafficPolicy;
  if (policy === undefined) return undefined;
  const tls = portEntry(policy, port)?.tls ?? policy.tls;
  return tls === undefined ? undefined : (tls.mode ?? 'DISABLE');
}

function portEntry(policy: TrafficPolicy, port: number): TrafficPolicy_PortTrafficPolicy | undefined {
  return policy.portLevelSettings?.find(entry => entry.port?.number === port);
}

function fourFields(entry: TrafficPolicy_PortTrafficPolicy): ClusterPolicy {
  return {
    connectionPool: entry.connectionPool,
    loadBalancer: entry.loadBalancer,
    outlierDetection: entry.outlierDetection,
    tls: entry.tls,
  };
}

function withoutPorts(policy: TrafficPolicy): ClusterPolicy {
  if (policy.portLevelSettings === undefined) return policy;
  const { portLevelSettings: _ports, ...rest } = policy;
  return rest;
}
