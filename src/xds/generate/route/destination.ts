// The cluster that a destination of a VirtualService leads to. Destinations are not checked: an unknown host or subset
// is named all the same, and the proxy answers with an error until it exists. Source: Istio
// pilot/pkg/networking/core/route/route.go (GetDestinationCluster).

import type { Destination, LoadBalancerSettings_ConsistentHashLB } from '../../../core/schema/istio-types.gen.ts';
import { outboundClusterName, UNKNOWN_SERVICE } from '../../../core/select/cluster/cluster-names.ts';
import { destinationKey, type VirtualServiceRoutesInputs } from '../../../core/select/route/virtual-service-routes.ts';

export function destinationCluster(inputs: VirtualServiceRoutesInputs, destination: Destination | undefined): string {
  if (!destination?.host) return UNKNOWN_SERVICE;
  const { host, subset = '' } = destination;
  const known = inputs.clusters.find(([key]) => key === destinationKey(destination));
  if (known !== undefined) return known[1];
  const [, clusterHost, inferredPort] = inputs.inferred.find(([one]) => one === host) ?? [host, host, inputs.port];
  return outboundClusterName(clusterHost, subset, destination.port?.number ?? inferredPort);
}

export function destinationHash(
  inputs: VirtualServiceRoutesInputs,
  destination: Destination | undefined,
): LoadBalancerSettings_ConsistentHashLB | undefined {
  if (destination === undefined) return undefined;
  const key = destinationKey(destination);
  return inputs.hashes.find(([known]) => known === key)?.[1];
}
