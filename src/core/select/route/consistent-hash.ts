// The consistentHash block that spreads the requests of a destination, if any. A query of its own: a DestinationRule
// that changes in other respects (subsets' labels, connection pools, …) changes no route.
// Source: Istio pilot/pkg/networking/core/route/route.go (HashForHTTPDestination).

import { hostIndexOf } from '../../model/host-index.ts';
import { resolveShortName } from '../../model/hosts.ts';
import { KEY_SEPARATOR, type ProxyReader, type Query } from '../../query/reader.ts';
import type {
  DestinationRule,
  LoadBalancerSettings_ConsistentHashLB,
  TrafficPolicy,
} from '../../schema/istio-types.gen.ts';
import { destinationRule } from '../scope/destination-rules.ts';
import { scopeService } from '../scope/sidecar-scope.ts';
import { subsetNamed } from '../scope/subsets.ts';

type Hash = LoadBalancerSettings_ConsistentHashLB;

/** For callers with many destinations: few rules hash, so most hosts need no look-up of the rule in force. */
export interface HashLookup {
  /**
   * An empty subset or an undefined port means that the destination names none; without a port, settings of a port do
   * not count.
   */
  of(host: string, subset: string, port: number | undefined): Hash | undefined;
  /** No rule of the mesh hashes. */
  readonly nothing: boolean;
}

export function hashLookup(reader: ProxyReader): HashLookup {
  const hosts = reader.get(hashedHosts, '');
  if (hosts.length === 0) return nothingHashes;
  const index = hostIndexOf(hosts);
  return {
    nothing: false,
    of: (host, subset, port) => (index.covers(host) ? reader.get(hashInForce, { host, subset, port }) : undefined),
  };
}

const nothingHashes: HashLookup = { of: () => undefined, nothing: true };

interface HashDestination {
  readonly host: string;
  /** Empty if the destination names none. */
  readonly subset: string;
  /** Without it, settings of a port do not count. */
  readonly port: number | undefined;
}

/** Precedence: the subset's port, the subset, the port, the rule. undefined for a host outside of the proxy's scope. */
const hashInForce: Query<HashDestination, Hash | undefined> = {
  name: 'select/hashInForce',
  key: ({ host, subset, port }) => [host, subset, port].join(KEY_SEPARATOR),
  run: (reader, { host, subset, port }) => {
    const service = reader.get(scopeService, host);
    if (service === undefined) return undefined;
    const rule = reader.get(destinationRule, { hostname: host, direction: 'outbound' });
    if (rule === undefined) return undefined;
    const chosen = subset === '' ? undefined : subsetNamed(rule.spec, subset);
    return hashOf(chosen?.trafficPolicy, port) ?? hashOf(rule.spec.trafficPolicy, port);
  },
};

function hashOf(policy: TrafficPolicy | undefined, port: number | undefined): Hash | undefined {
  const ofPort =
    port === undefined ? undefined : policy?.portLevelSettings?.find(settings => settings.port?.number === port);
  return ofPort?.loadBalancer?.consistentHash ?? policy?.loadBalancer?.consistentHash;
}

/**
 * The hosts of all rules with a consistent hash, whether or not they apply to any proxy. A query of its own: a changed
 * rule with the same hosts leaves the queries above as they are.
 */
const hashedHosts: Query<'', readonly string[]> = {
  name: 'select/hashedHosts',
  run: reader => {
    const domain = reader.setting('domainSuffix');
    const hashing = reader.objects('DestinationRule').filter(rule => hashesAnywhere(rule.spec));
    return [...new Set(hashing.map(rule => resolveShortName(rule.spec.host ?? '', rule.namespace, domain)))].sort();
  },
};

function hashesAnywhere(spec: DestinationRule): boolean {
  const policies = [spec.trafficPolicy, ...(spec.subsets ?? []).map(subset => subset.trafficPolicy)];
  const settings = policies.flatMap(policy => [policy, ...(policy?.portLevelSettings ?? [])]);
  return settings.some(setting => setting?.loadBalancer?.consistentHash !== undefined);
}
