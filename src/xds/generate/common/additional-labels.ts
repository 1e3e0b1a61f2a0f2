// Labels of the workload that metadata exchange tells beside the usual ones (PILOT_MX_ADDITIONAL_LABELS; Istio
// pilot/pkg/features/telemetry.go).

import type { JsonObject } from '../../../core/base/json.ts';
import { compareText } from '../../../core/model/object.ts';

/** Of comma-separated names, which are taken as they stand: sorted, each once. Nothing of an empty text. */
export function additionalLabels(names: string): JsonObject {
  if (names === '') return {};
  return { additional_labels: [...new Set(names.split(','))].sort(compareText) };
}
