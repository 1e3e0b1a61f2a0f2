// Limits of the connections to a cluster: circuit breakers, connect timeout, keepalive.
// Source: Istio pilot/pkg/networking/core/cluster_traffic_policy.go.

import type { Duration } from '../../../core/schema/duration.ts';
import type {
  ConnectionPoolSettings,
  ConnectionPoolSettings_TCPSettings_TcpKeepalive as KeepaliveSettings,
  TrafficPolicy_RetryBudget,
} from '../../../core/schema/istio-types.gen.ts';
import type {
  CircuitBreakers,
  CircuitBreakers_Thresholds_RetryBudget,
  TcpKeepalive,
  UpstreamConnectionOptions,
} from '../../proto/types.gen.ts';
import { lastOf } from '../common/last.ts';

/** Envoy's own limits (1024 connections, 3 retries …) are lifted: only a rule limits. */
export const UNLIMITED = 4294967295;
const RETRY_BUDGET_PERCENT = 20;
const RETRY_BUDGET_MIN_CONCURRENCY = 3;

export const circuitBreakers = lastOf(
  (
    pool: ConnectionPoolSettings | undefined,
    retryBudget: TrafficPolicy_RetryBudget | undefined,
    trackRemaining: boolean,
  ): CircuitBreakers => ({
    thresholds: [
      {
        maxConnections: limit(pool?.tcp?.maxConnections),
        maxPendingRequests: limit(pool?.http?.http1MaxPendingRequests),
        maxRequests: limit(pool?.http?.http2MaxRequests),
        maxRetries: limit(pool?.http?.maxRetries),
        trackRemaining: trackRemaining || undefined,
        retryBudget: retryBudget === undefined ? undefined : retryBudgetOf(retryBudget),
      },
    ],
  }),
);

export function connectTimeout(
  mesh: Duration | undefined,
  pool: ConnectionPoolSettings | undefined,
): Duration | undefined {
  return pool?.tcp?.connectTimeout ?? mesh;
}

/** The rule's keepalive over the mesh's, field by field; an empty one still switches keepalive on. */
export function connectionOptions(
  mesh: KeepaliveSettings | undefined,
  pool: ConnectionPoolSettings | undefined,
): UpstreamConnectionOptions | undefined {
  const own = pool?.tcp?.tcpKeepalive;
  if (mesh === undefined && own === undefined) return undefined;
  const probes = positive(own?.probes) ?? positive(mesh?.probes);
  const time = own?.time ?? mesh?.time;
  const interval = own?.interval ?? mesh?.interval;
  const tcpKeepalive: TcpKeepalive = {
    keepaliveProbes: probes === undefined ? undefined : { value: probes },
    keepaliveTime: time === undefined ? undefined : { value: time.seconds },
    keepaliveInterval: interval === undefined ? undefined : { value: interval.seconds },
  };
  return { tcpKeepalive };
}

function retryBudgetOf(budget: TrafficPolicy_RetryBudget): CircuitBreakers_Thresholds_RetryBudget {
  return {
    budgetPercent: { value: budget.percent ?? RETRY_BUDGET_PERCENT },
    minRetryConcurrency: { value: positive(budget.minRetryConcurrency) ?? RETRY_BUDGET_MIN_CONCURRENCY },
  };
}

function limit(value: number | undefined): { readonly value: number } {
  return { value: positive(value) ?? UNLIMITED };
}

/** Zero counts as not given, for every plain integer of a traffic policy. */
export function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}
