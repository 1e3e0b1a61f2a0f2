// The endpoints of a service from all registries and clusters.
// Rules: spec-clusters-endpoints §11, §12, §7.1; Istio pilot/pkg/model/endpointshards.go.

import type { EndpointShard } from '../model/service.ts';
import type { Query } from '../reader.ts';

/** Argument `hostname|namespace`. Sorted by provider, then cluster; shards without endpoints are left out. */
export const endpointShards: Query<string, readonly EndpointShard[]> = {
  name: 'registry/endpointShards',
  run: () => [],
};

/** Argument `hostname|namespace`. SPIFFE ids of the endpoints and of the service itself, trust domain aliases included, sorted. */
export const serviceAccounts: Query<string, readonly string[]> = {
  name: 'registry/serviceAccounts',
  run: () => [],
};
