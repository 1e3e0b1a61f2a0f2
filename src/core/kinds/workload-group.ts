// WorkloadGroup: the template of the WorkloadEntries of virtual machines that register themselves. Decoded only.

import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio.ts';

export const workloadGroup = istioKind({
  kind: 'WorkloadGroup',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.WorkloadGroup',
});
