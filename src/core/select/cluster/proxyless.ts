// A cluster of a proxyless gRPC client, by its name: every service is found by EDS, and only the parts of a
// DestinationRule that gRPC supports apply.
// Source: Istio pilot/pkg/networking/grpcgen/cds.go.

import { portNumbered } from '../../model/service.ts';
import { refOf } from '../../model/service-ref.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { serviceAccounts } from '../../registry/endpoints.ts';
import type { LoadBalancerSettings } from '../../schema/istio-types.gen.ts';
import { subsetNamed } from '../scope/subsets.ts';
import { parseClusterName } from './cluster-names.ts';
import { outboundDefaults } from './common.ts';
import { serviceOfCluster } from './service-clusters.ts';
import { policyOfPort, policyOfSubset } from './traffic-policy.ts';

export interface ProxylessClusterInputs {
  readonly name: string;
  /** Without the final `;`. */
  readonly statName: string;
  /** The identities of the service; undefined: the client does not use mTLS. */
  readonly identities: readonly string[] | undefined;
  readonly loadBalancer: LoadBalancerSettings | undefined;
  /** 0: no limit. */
  readonly maxRequests: number;
  /** Sessions stay with an endpoint that drains. */
  readonly keepsSessions: boolean;
}

/** Undefined: no such service, port or subset in the client's scope. */
export function selectProxylessCluster(reader: ProxyReader, name: string): ProxylessClusterInputs | undefined {
  const parsed = parseClusterName(name);
  const found = serviceOfCluster(reader, name);
  if (parsed === undefined || found === undefined || parsed.sniDnat) return undefined;
  const { service, rule } = found;
  const port = portNumbered(service, parsed.port);
  const subset = subsetNamed(rule?.spec, parsed.subset);
  if (port === undefined || (parsed.subset !== '' && subset === undefined)) return undefined;
  const base = policyOfPort(rule?.spec.trafficPolicy, port.port);
  const policy = subset === undefined ? base : policyOfSubset(base, subset, port.port);
  const { sessionLabels } = reader.get(outboundDefaults, '');
  return {
    name,
    statName: name,
    identities: policy?.tls?.mode === 'ISTIO_MUTUAL' ? reader.get(serviceAccounts, refOf(service)) : undefined,
    loadBalancer: policy?.loadBalancer,
    maxRequests: Math.max(0, policy?.connectionPool?.http?.http2MaxRequests ?? 0),
    keepsSessions: subset === undefined && sessionLabels.some(label => (service.labels[label] ?? '') !== ''),
  };
}
