// How load spreads over the priorities of a cluster by their health, and when a priority is in panic and uses sick
// hosts too (Envoy's LoadBalancerBase::recalculatePerPriorityState; documented under "priority levels" and "panic
// threshold").

/** Counts of the hosts of one priority. */
export interface HostCounts {
  readonly total: number;
  readonly healthy: number;
  readonly degraded: number;
}

export interface PriorityLoad {
  /** Percent of the load that goes to healthy, and to degraded hosts of the priority. */
  readonly healthy: number;
  readonly degraded: number;
  /** All hosts of the priority are used, healthy or not. */
  readonly panic: boolean;
}

export interface HealthPolicy {
  /** Percent: as long as this times the healthy share is 100, a priority keeps all of its load. */
  readonly overprovisioning: number;
  /** Percent of healthy hosts below which a priority panics; 0: never. */
  readonly panicThreshold: number;
}

export const DEFAULT_OVERPROVISIONING = 140;
export const DEFAULT_PANIC_THRESHOLD = 50;

/** One load for each priority. All zero: there is no host to be used. */
export function priorityLoads(priorities: readonly HostCounts[], policy: HealthPolicy): readonly PriorityLoad[] {
  const percent = (part: number, total: number): number =>
    total === 0 ? 0 : Math.min(100, Math.floor((policy.overprovisioning * part) / total));
  const healthy = priorities.map(p => percent(p.healthy, p.total));
  const degraded = priorities.map(p => percent(p.degraded, p.total));
  const available = Math.min(100, sum(healthy) + sum(degraded));
  if (available === 0) return policy.panicThreshold > 0 ? totalPanic(priorities) : priorities.map(() => NOTHING);
  const first = spread(healthy, available, 100);
  const second = spread(degraded, available, 100 - sum(first));
  // The rounding remainder goes to the first available priority.
  const left = 100 - sum(first) - sum(second);
  const fortunate = healthy.findIndex((health, i) => health + degraded[i]! > 0);
  return priorities.map((counts, i) => {
    const panic = available < 100 && counts.total > 0 && (100 * counts.healthy) / counts.total < policy.panicThreshold;
    const extra = i === fortunate ? left : 0;
    const onHealthy = healthy[i]! > 0;
    return {
      healthy: first[i]! + (onHealthy ? extra : 0),
      degraded: second[i]! + (onHealthy ? 0 : extra),
      panic,
    };
  });
}

const NOTHING: PriorityLoad = { healthy: 0, degraded: 0, panic: false };

function spread(parts: readonly number[], available: number, load: number): readonly number[] {
  let left = load;
  return parts.map(part => {
    const share = Math.min(left, Math.floor((part * 100) / available));
    left -= share;
    return share;
  });
}

/** Nothing is healthy: the load goes by the number of hosts. */
function totalPanic(priorities: readonly HostCounts[]): readonly PriorityLoad[] {
  const hosts = sum(priorities.map(({ total }) => total));
  if (hosts === 0) return priorities.map(() => NOTHING);
  return priorities.map(({ total }) => ({ healthy: (100 * total) / hosts, degraded: 0, panic: true }));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
