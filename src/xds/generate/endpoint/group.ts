// Endpoints by locality, before they become a ClusterLoadAssignment: input and output of the network filter and the
// locality rules.

import { splitLocality } from '../../../core/base/labels.ts';
import type { LbEndpoint, Locality, LocalityLbEndpoints } from '../../proto/types.gen.ts';

export interface Member {
  readonly lb: LbEndpoint;
  readonly weight: number;
  /** Reached by mesh mTLS. */
  readonly mtls: boolean;
  /** For failover by labels. */
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
  readonly cluster: string;
}

export interface Group {
  readonly locality: string;
  readonly members: readonly Member[];
  readonly weight: number;
  readonly priority: number;
}

/** Envoy's limit of a locality's weight; sums stop there. */
export const WEIGHT_MAX = 4294967295;

export function weightOfMembers(members: readonly Member[]): number {
  let total = 0;
  for (const member of members) total += member.weight;
  return Math.min(total, WEIGHT_MAX);
}

export function toLocalityEndpoints(group: Group): LocalityLbEndpoints {
  const { region, zone, subzone: subZone } = splitLocality(group.locality);
  const locality: Locality = {
    ...(region === '' ? {} : { region }),
    ...(zone === '' ? {} : { zone }),
    ...(subZone === '' ? {} : { subZone }),
  };
  return {
    locality,
    ...(group.members.length === 0 ? {} : { lbEndpoints: group.members.map(member => member.lb) }),
    ...(group.weight === 0 ? {} : { loadBalancingWeight: { value: group.weight } }),
    ...(group.priority === 0 ? {} : { priority: group.priority }),
  };
}
