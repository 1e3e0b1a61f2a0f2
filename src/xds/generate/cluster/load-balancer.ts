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
  if (settings === undefined || consistentHash === undefined) return simple(settings);
  if (consistentHash.maglev !== undefined) {
    const tableSize = consistentHash.maglev.tableSize ?? 0;
    if (tableSize === 0) return { ...warmed(settings), lbPolicy: Cluster_LbPolicy.MAGLEV };
    return { lbPolicy: Cluster_LbPolicy.MAGLEV, maglevLbConfig: { tableSize: { value: tableSize } } };
  }
  if (consistentHash.ringHash !== undefined) {
    const size = consistentHash.ringHash.minimumRingSize ?? 0;
    if (size === 0) return { ...warmed(settings), lbPolicy: Cluster_LbPolicy.RING_HASH };
    return { lbPolicy: Cluster_LbPolicy.RING_HASH, ringHashLbConfig: { minimumRingSize: { value: size } } };
  }
  const size = consistentHash.minimumRingSize ?? 0;
  return {
    lbPolicy: Cluster_LbPolicy.RING_HASH,
    ringHashLbConfig: { minimumRingSize: { value: size === 0 ? RING_SIZE_MIN : size } },
  };
}

function simple(settings: LoadBalancerSettings | undefined): LoadBalancing {
  switch (settings?.simple) {
    case 'ROUND_ROBIN': {
      const slowStartConfig = slowStart(settings);
      return {
        lbPolicy: Cluster_LbPolicy.ROUND_ROBIN,
        ...(slowStartConfig === undefined ? {} : { roundRobinLbConfig: { slowStartConfig } }),
      };
    }
    case 'RANDOM':
      return { lbPolicy: Cluster_LbPolicy.RANDOM };
    case 'PASSTHROUGH':
      return { lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED };
    default:
      return settings === undefined ? leastRequest : { ...leastRequest, ...warmed(settings) };
  }
}

const leastRequest: LoadBalancing = { lbPolicy: Cluster_LbPolicy.LEAST_REQUEST };

/** Also left behind by a warm-up beside a hash algorithm without settings of its own. */
function warmed(settings: LoadBalancerSettings | undefined): LoadBalancing {
  const slowStartConfig = slowStart(settings);
  return slowStartConfig === undefined ? {} : { leastRequestLbConfig: { slowStartConfig } };
}

function slowStart(settings: LoadBalancerSettings | undefined): Cluster_SlowStartConfig | undefined {
  const warmup = settings?.warmup;
  if (warmup !== undefined) {
    return {
      ...(warmup.duration === undefined ? {} : { slowStartWindow: warmup.duration }),
      aggression: { defaultValue: warmup.aggression ?? 1, runtimeKey: WARMUP_RUNTIME_KEY },
      minWeightPercent: { value: warmup.minimumPercent ?? WARMUP_MIN_PERCENT },
    };
  }
  const duration = settings?.warmupDurationSecs;
  return duration === undefined ? undefined : { slowStartWindow: duration };
}
