// The assignment of a cluster by name (spec-clusters §13.1).

import type { Resource } from '../../../core/model/resource.ts';
import { portNumbered, type Service } from '../../../core/model/service.ts';
import type { ProxyReader, Query, Selection } from '../../../core/query/reader.ts';
import { parseClusterName } from '../../../core/select/cluster/cluster-names.ts';
import { policyOfPort, policyOfSubset } from '../../../core/select/cluster/traffic-policy.ts';
import { selectAssignment } from '../../../core/select/endpoint/assignment.ts';
import { destinationRule, type MergedRule, scopeRules } from '../../../core/select/scope/destination-rules.ts';
import { scopeIndex, scopeService } from '../../../core/select/scope/sidecar-scope.ts';
import type { ClusterLoadAssignment } from '../../proto/types.gen.ts';
import type { Pieces } from '../common/source.ts';
import { loadAssignment } from './assignment.ts';

type Assignment = Resource<ClusterLoadAssignment>;

/**
 * Argument: the name of a cluster. Undefined for a service that is not in the proxy's scope. A port that the service does not have,
 * or a service whose cluster holds its endpoints itself, has an assignment without endpoints, so that Envoy does not wait.
 */
export const endpointsOf: Query<string, Assignment | undefined> = {
  name: 'endpoint/endpointsOf',
  run: (reader, clusterName) => {
    const hostname = outboundHost(clusterName);
    const service = hostname === undefined ? undefined : reader.get(scopeService, hostname);
    if (service === undefined) return undefined;
    const rule = reader.get(destinationRule, `${service.hostname}|${service.namespace}|outbound`);
    return reader.select(assignmentOf, { clusterName, service, rule });
  },
};

/** Those that there are, in order of the names, without a question a host. */
function questions(reader: ProxyReader, clusterNames: readonly string[]): readonly Question[] {
  const services = reader.get(scopeIndex, '');
  const rules = reader.get(scopeRules, '');
  const found: Question[] = [];
  for (const clusterName of clusterNames) {
    const service = services.get(outboundHost(clusterName) ?? '');
    if (service !== undefined) found.push({ clusterName, service, rule: rules.get(service.hostname) });
  }
  return found;
}

function outboundHost(clusterName: string): string | undefined {
  const parsed = parseClusterName(clusterName);
  return parsed?.direction === 'outbound' ? parsed.hostname : undefined;
}

interface Question {
  readonly clusterName: string;
  readonly service: Service;
  /** The one in force for the proxy. */
  readonly rule: MergedRule | undefined;
}

const assignmentOf: Selection<Question, Assignment> = {
  name: 'endpoint/assignmentOf',
  run: (reader, { clusterName, service, rule }) => {
    const parsed = parseClusterName(clusterName)!;
    const port = portNumbered(service, parsed.port);
    if (port === undefined || findsByName(service)) return reader.make(emptyAssignment, { clusterName });
    const subset = rule?.spec.subsets?.find(candidate => candidate.name === parsed.subset);
    const base = policyOfPort(rule?.spec.trafficPolicy, port.port);
    const policy = subset === undefined ? base : policyOfSubset(base, subset, port.port);
    const { sniDnat } = parsed;
    const question = { clusterName, service, port, subset, rule, policy, dns: false, sniDnat };
    return reader.make(loadAssignment, selectAssignment(reader, question));
  },
};

/** The same for each of many clusters. */
export const endpointPieces: Pieces<Question> = { list: questions, each: assignmentOf };

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
