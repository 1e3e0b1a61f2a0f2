// The load balancing algorithm of a cluster. Source: Istio pilot/pkg/networking/core/cluster_traffic_policy.go
// (applyLoadBalancer, ApplyRingHashLoadBalancer, setWarmup). The hash key is part of the routes, not of the cluster.

import type { LoadBalancerSettings } from '../../../core/schema/istio-types.gen.ts';
import { type Cluster, Cluster_LbPolicy, type Cluster_SlowStartConfig } from '../../proto/types.gen.ts';

const RING_SIZE_MIN = 1024;
const WARMUP_MIN_PERCENT = 10;
/** Not a real runtime key; Istio sends it so, because the field may not be empty. */
const WARMUP_RUNTIME_KEY = '(';

export type LoadBalancing = Pick<
  Cluster,
  'lbPolicy' | 'leastRequestLbConfig' | 'roundRobinLbConfig' | 'ringHashLbConfig' | 'maglevLbConfig'
>;

export function loadBalancing(settings: LoadBalancerSettings | undefined, hashesKeys: boolean): LoadBalancing {
  if (hashesKeys) return { lbPolicy: Cluster_LbPolicy.MAGLEV };
  const consistentHash = settings?.consistentHash;
  if (consistentHash === undefined) return simple(settings);
  if (consistentHash.maglev !== undefined) {
    const tableSize = consistentHash.maglev.tableSize ?? 0;
    const config = tableSize === 0 ? warmed(settings) : { maglevLbConfig: { tableSize: { value: tableSize } } };
    return { ...config, lbPolicy: Cluster_LbPolicy.MAGLEV };
  }
  if (consistentHash.ringHash !== undefined) {
    const size = consistentHash.ringHash.minimumRingSize ?? 0;
    const config = size === 0 ? warmed(settings) : { ringHashLbConfig: { minimumRingSize: { value: size } } };
    return { ...config, lbPolicy: Cluster_LbPolicy.RING_HASH };
  }
  const size = consistentHash.minimumRingSize ?? 0;
  return {
    lbPolicy: Cluster_LbPolicy.RING_HASH,
    ringHashLbConfig: { minimumRingSize: { value: size === 0 ? RING_SIZE_MIN : size } },
  };
}

/** PASSTHROUGH has become the discovery type by now. */
function simple(settings: LoadBalancerSettings | undefined): LoadBalancing {
  switch (settings?.simple) {
    case 'ROUND_ROBIN': {
      const slowStartConfig = slowStart(settings);
      return {
        lbPolicy: Cluster_LbPolicy.ROUND_ROBIN,
        roundRobinLbConfig: slowStartConfig === undefined ? undefined : { slowStartConfig },
      };
    }
    case 'RANDOM':
      return { lbPolicy: Cluster_LbPolicy.RANDOM };
    default:
      return { ...warmed(settings), lbPolicy: Cluster_LbPolicy.LEAST_REQUEST };
  }
}

/** Also left behind by a warm-up beside a hash algorithm without settings of its own. */
function warmed(settings: LoadBalancerSettings | undefined): LoadBalancing {
  const slowStartConfig = slowStart(settings);
  return slowStartConfig === undefined ? {} : { leastRequestLbConfig: { slowStartConfig } };
}

function slowStart(settings: LoadBalancerSettings | undefined): Cluster_SlowStartConfig | undefined {
  const warmup = settings?.warmup;
  if (warmup !== undefined) {
    return {
      slowStartWindow: warmup.duration,
      aggression: { defaultValue: warmup.aggression ?? 1, runtimeKey: WARMUP_RUNTIME_KEY },
      minWeightPercent: { value: warmup.minimumPercent ?? WARMUP_MIN_PERCENT },
    };
  }
  const duration = settings?.warmupDurationSecs;
  return duration === undefined ? undefined : { slowStartWindow: duration };
}
