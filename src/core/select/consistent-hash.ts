// Which consistentHash block decides how requests to a destination are spread, if any. A query of its own: a DestinationRule that changes in
// other respects (subsets' labels, connection pools, …) changes no route.
// Source: Istio pilot/pkg/networking/core/route/route.go (getHashForHTTPDestination); spec-routes-visibility §6, §10.10.

import type { Query } from '../reader.ts';
import type { LoadBalancerSettings_ConsistentHashLB, TrafficPolicy } from '../schema/istio-types.gen.ts';
import { destinationRule } from './destination-rules.ts';
import { scopeService } from './sidecar-scope.ts';

type Hash = LoadBalancerSettings_ConsistentHashLB;

/**
 * Argument `host|subset|port`; an empty port means that the destination names none, and then settings of a port do not count.
 * Precedence: the subset's port, the subset, the port, the rule. undefined for a host outside of the proxy's scope.
 */
export const consistentHash: Query<string, Hash | undefined> = {
  name: 'select/consistentHash',
  run: (reader, arg) => {
    const [host = '', subset = '', portText = ''] = arg.split('|');
    const service = reader.get(scopeService, host);
    if (service === undefined) return undefined;
    const rule = reader.get(destinationRule, `${host}|${service.namespace}|outbound`);
    if (rule === undefined) return undefined;
    const port = portText === '' ? undefined : Number(portText);
    const chosen = subset === '' ? undefined : rule.spec.subsets?.find(candidate => candidate.name === subset);
    return hashOf(chosen?.trafficPolicy, port) ?? hashOf(rule.spec.trafficPolicy, port);
  },
};

function hashOf(policy: TrafficPolicy | undefined, port: number | undefined): Hash | undefined {
  const ofPort =
    port === undefined ? undefined : policy?.portLevelSettings?.find(settings => settings.port?.number === port);
  return ofPort?.loadBalancer?.consistentHash ?? policy?.loadBalancer?.consistentHash;
}
