// Telemetry: metrics, access logs and traces. Decoded only.

import { istioKind } from './istio.ts';

export const telemetry = istioKind({
  kind: 'Telemetry',
  group: 'telemetry.istio.io',
  versions: ['v1', 'v1alpha1'],
  type: 'istio.telemetry.v1alpha1.Telemetry',
});
