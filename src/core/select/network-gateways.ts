// The gateways through which other networks are reached. Source: Istio pilot/pkg/model/network.go,
// pilot/pkg/serviceregistry/kube/controller/network.go; spec-clusters §14.1.

import type { Query } from '../reader.ts';

export interface NetworkGateway {
  readonly network: string;
  /** The cluster it stands in; empty: it serves its network in every cluster. */
  readonly cluster: string;
  readonly address: string;
  readonly port: number;
}

/** All gateways, by network, cluster, address, port. */
export const networkGateways: Query<'', readonly NetworkGateway[]> = {
  name: 'select/networkGateways',
  run: () => [],
};
