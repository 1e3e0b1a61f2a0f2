// The status of a listener.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/conversion.go (ReportListenerCondition).

import type { JsonObject } from '../../base/json.ts';
import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import type { TranslatedListener } from '../../translate/gateway-api/listener.ts';
import { type Condition, condition, conditionsJson } from './conditions.ts';

const SOUND = 'No errors found';

export function listenerStatus(
  listener: TranslatedListener,
  attached: number,
  generation: number | undefined,
): JsonObject {
  const { name, kinds, accepted, programmed, resolvedRefs } = listener;
  const conditions: readonly Condition[] = [
    condition('Accepted', accepted, 'Accepted', SOUND),
    { ...condition('Conflicted', undefined, 'NoConflicts', SOUND), inverted: true },
    condition('Programmed', programmed, 'Programmed', SOUND),
    condition('ResolvedRefs', resolvedRefs, 'ResolvedRefs', SOUND),
  ];
  return {
    name,
    attachedRoutes: attached,
    supportedKinds: kinds.map(kind => ({ group: GATEWAY_API, kind })),
    conditions: conditionsJson(generation, conditions),
  };
}
