// The assignment of a cluster by name (spec-clusters §13.1).

import type { Service } from '../../../core/model/service.ts';
import type { Query } from '../../../core/reader.ts';
import type { Resource } from '../../../core/resource.ts';
import { parseClusterName } from '../../../core/select/cluster-names.ts';
import { destinationRule } from '../../../core/select/destination-rules.ts';
import { selectAssignment } from '../../../core/select/endpoint-assignment.ts';
import { scopeService } from '../../../core/select/sidecar-scope.ts';
import { policyOfPort, policyOfSubset } from '../../../core/select/traffic-policy.ts';
import type { ClusterLoadAssignment } from '../../proto/types.gen.ts';
import { loadAssignment } from './assignment.ts';

/**
 * Argument: the name of a cluster. Undefined for a service that is not in the proxy's scope. A port that the service does not have,
 * or a service whose cluster holds its endpoints itself, has an assignment without endpoints, so that Envoy does not wait.
 */
export const endpointsOf: Query<string, Resource<ClusterLoadAssignment> | undefined> = {
  name: 'endpoint/endpointsOf',
  run: (reader, clusterName) => {
    const parsed = parseClusterName(clusterName);
    if (parsed === undefined || parsed.direction !== 'outbound') return undefined;
    const service = reader.get(scopeService, parsed.hostname);
    if (service === undefined) return undefined;
    const port = service.ports.find(candidate => candidate.port === parsed.port);
    if (port === undefined || findsByName(service)) return reader.make(emptyAssignment, { clusterName });
    const rule = reader.get(destinationRule, `${service.hostname}|${service.namespace}|outbound`);
    const subset = rule?.spec.subsets?.find(candidate => candidate.name === parsed.subset);
    const base = policyOfPort(rule?.spec.trafficPolicy, port.port);
    const policy = subset === undefined ? base : policyOfSubset(base, subset, port.port);
    const { sniDnat } = parsed;
    const question = { clusterName, service, port, subset, rule, policy, dns: false, sniDnat };
    return reader.make(loadAssignment, selectAssignment(reader, question));
  },
};

const emptyAssignment = {
  name: 'endpoint/empty',
  run: ({ clusterName }: { readonly clusterName: string }): Resource<ClusterLoadAssignment> => ({
    name: clusterName,
    message: { clusterName },
    problems: [],
  }),
};

function findsByName(service: Service): boolean {
  return service.resolution === 'DNSLB' || service.resolution === 'DNSRoundRobinLB';
}
