// The cluster that a destination of a VirtualService leads to. Destinations are not checked: an unknown host or subset
// is named all the same, and the proxy answers with an error until it exists. Source: Istio
// pilot/pkg/networking/core/route/route.go (GetDestinationCluster).

import type { Destination, LoadBalancerSettings_ConsistentHashLB } from '../../../core/schema/istio-types.gen.ts';
import { outboundClusterName, UNKNOWN_SERVICE } from '../../../core/select/cluster/cluster-names.ts';
import { destinationKey, type VirtualServiceRoutesInputs } from '../../../core/select/route/virtual-service-routes.ts';
import { lastOf } from '../common/last.ts';

export function destinationCluster(inputs: VirtualServiceRoutesInputs, destination: Destination | undefined): string {
  if (!destination?.host) return UNKNOWN_SERVICE;
  const { host, subset = '' } = destination;
  const known = clustersByKey(inputs.clusters)?.get(destinationKey(destination));
  if (known !== undefined) return known;
  const [, clusterHost, inferredPort] = inferredByHost(inputs.inferred).get(host) ?? [host, host, inputs.port];
  return outboundClusterName(clusterHost, subset, destination.port?.number ?? inferredPort);
}

export function destinationHash(
  inputs: VirtualServiceRoutesInputs,
  destination: Destination | undefined,
): LoadBalancerSettings_ConsistentHashLB | undefined {
  if (destination === undefined) return undefined;
  return hashesByKey(inputs.hashes).get(destinationKey(destination));
}

// A rule may have thousands of destinations: searched through for each, lists as long cost the square of their number.
const clustersByKey = lastOf((clusters: VirtualServiceRoutesInputs['clusters']) =>
  clusters.length === 0 ? undefined : new Map(clusters),
);
const inferredByHost = lastOf(
  (inferred: VirtualServiceRoutesInputs['inferred']) => new Map(inferred.map(one => [one[0], one] as const)),
);
const hashesByKey = lastOf((hashes: VirtualServiceRoutesInputs['hashes']) => new Map(hashes));
