// Ejection of endpoints that fail. Source: Istio pilot/pkg/networking/core/cluster_traffic_policy.go
// (applyOutlierDetection).

import type { OutlierDetection as Settings } from '../../../core/schema/istio-types.gen.ts';
import type { OutlierDetection, Percent, UInt32Value } from '../../proto/types.gen.ts';
import { positive } from './connection-pool.ts';

/**
 * Ejection by success rate is off: Istio offers counted errors only. The deprecated `consecutiveErrors` has no effect.
 */
export function outlierDetection(settings: Settings): OutlierDetection {
  const errors = settings.consecutive5xxErrors;
  const gatewayErrors = settings.consecutiveGatewayErrors;
  const maxEjectionPercent = positive(settings.maxEjectionPercent);
  return {
    enforcingSuccessRate: { value: 0 },
    interval: settings.interval,
    baseEjectionTime: settings.baseEjectionTime,
    ...(errors === undefined ? {} : { consecutive5xx: { value: errors }, enforcingConsecutive5xx: enforcing(errors) }),
    ...(gatewayErrors === undefined
      ? {}
      : {
          consecutiveGatewayFailure: { value: gatewayErrors },
          enforcingConsecutiveGatewayFailure: enforcing(gatewayErrors),
        }),
    maxEjectionPercent: maxEjectionPercent === undefined ? undefined : { value: maxEjectionPercent },
    ...(settings.splitExternalLocalOriginErrors === true ? localOrigin(settings) : {}),
  };
}

/**
 * Below this share of healthy endpoints Envoy uses all of them. 0, the default: never, and also where unhealthy ones
 * are sent.
 */
export function panicThreshold(settings: Settings, sendsUnhealthy: boolean): Percent {
  const percent = sendsUnhealthy ? 0 : (settings.minHealthPercent ?? 0);
  return percent > 0 ? { value: percent } : {};
}

function localOrigin(settings: Settings): OutlierDetection {
  const failures = positive(settings.consecutiveLocalOriginFailures);
  return {
    splitExternalLocalOriginErrors: true,
    enforcingLocalOriginSuccessRate: { value: 0 },
    ...(failures === undefined
      ? {}
      : {
          consecutiveLocalOriginFailure: { value: failures },
          enforcingConsecutiveLocalOriginFailure: { value: 100 },
        }),
  };
}

/** Setting 0 errors switches the check off. */
function enforcing(errors: number): UInt32Value {
  return { value: errors > 0 ? 100 : 0 };
}
