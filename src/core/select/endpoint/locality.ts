// Which locality load balancing setting is in force for a cluster; assignment.ts (`localityInputs`) chooses its mode.
// Source: Istio pilot/pkg/networking/core/loadbalancer/loadbalancer.go.

import type { TrafficDistribution } from '../../model/service.ts';
import type { LocalityLoadBalancerSetting } from '../../schema/istio-types.gen.ts';
import type { ClusterPolicy } from '../cluster/traffic-policy.ts';

export interface LocalityChoice {
  readonly distribute: LocalityLoadBalancerSetting['distribute'];
  readonly failover: LocalityLoadBalancerSetting['failover'];
  readonly failoverPriority: readonly string[];
  /**
   * Priorities are assigned: outlier detection can eject endpoints, or the service's traffic distribution asks for it.
   */
  readonly failoverActive: boolean;
}

const sameZone: readonly string[] = [
  'topology.istio.io/network',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];
const distributionPriority: Readonly<Record<TrafficDistribution, readonly string[]>> = {
  Any: [],
  PreferSameZone: sameZone,
  PreferSameNode: [...sameZone, 'topology.istio.io/subzone', 'kubernetes.io/hostname'],
};

/**
 * Undefined: localities are left as they are. Order: the policy's setting, the service's traffic distribution, the
 * mesh.
 */
export function localityChoice(
  policy: ClusterPolicy | undefined,
  distribution: TrafficDistribution,
  mesh: LocalityLoadBalancerSetting | undefined,
): LocalityChoice | undefined {
  const own = policy?.loadBalancer?.localityLbSetting;
  if (own === undefined && distribution !== 'Any') {
    const failoverPriority = distributionPriority[distribution];
    return { distribute: undefined, failover: undefined, failoverPriority, failoverActive: true };
  }
  const setting = own ?? mesh;
  if (setting === undefined || setting.enabled === false) return undefined;
  return {
    distribute: setting.distribute,
    failover: setting.failover,
    failoverPriority: setting.failoverPriority ?? [],
    failoverActive: policy?.outlierDetection !== undefined,
  };
}

/** Whether the cluster weighs its localities. */
export function weighsLocalities(choice: LocalityChoice | undefined): boolean {
  if (choice === undefined) return false;
  if ((choice.distribute ?? []).length > 0) return true;
  return choice.failoverActive && ((choice.failover ?? []).length > 0 || choice.failoverPriority.length > 0);
}
