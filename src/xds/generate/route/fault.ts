// Injected faults of a VirtualService rule, as the per-route configuration of Envoy's fault filter.
// Source: Istio pilot/pkg/networking/core/route/route.go (TranslateFault).

import { GRPC_STATUSES } from '../../../core/base/grpc-status.ts';
import type {
  HTTPFaultInjection,
  HTTPFaultInjection_Abort,
  HTTPFaultInjection_Delay,
} from '../../../core/schema/istio-types.gen.ts';
import { any } from '../../proto/any.ts';
import type { AnyMessage, FaultAbort, FaultDelay } from '../../proto/types.gen.ts';
import { perHundred, perMillion } from './percent.ts';

export const FAULT_FILTER = 'envoy.filters.http.fault';

export function faultConfig(fault: HTTPFaultInjection): AnyMessage {
  return any('envoy.extensions.filters.http.fault.v3.HTTPFault', {
    delay: fault.delay === undefined ? undefined : faultDelay(fault.delay),
    abort: fault.abort === undefined ? undefined : faultAbort(fault.abort),
  });
}

/** Envoy has no exponential delay: such a rule delays nothing. */
function faultDelay(delay: HTTPFaultInjection_Delay): FaultDelay | undefined {
  if (delay.fixedDelay === undefined) return undefined;
  const percentage =
    delay.percentage === undefined ? perHundred(delay.percent ?? 0) : perMillion(delay.percentage.value ?? 0);
  return { fixedDelay: delay.fixedDelay, percentage };
}

function faultAbort(abort: HTTPFaultInjection_Abort): FaultAbort | undefined {
  const kind = abortKind(abort);
  const percentage = abort.percentage === undefined ? undefined : perMillion(abort.percentage.value ?? 0);
  return kind === undefined ? undefined : { ...kind, percentage };
}

function abortKind(abort: HTTPFaultInjection_Abort): FaultAbort | undefined {
  if (abort.httpStatus !== undefined) return { httpStatus: abort.httpStatus };
  if (abort.grpcStatus === undefined) return undefined;
  return { grpcStatus: Math.max(0, GRPC_STATUSES.indexOf(abort.grpcStatus)) };
}
