// WorkloadEntry: one workload outside Kubernetes, such as a virtual machine. Its health is the condition Healthy of its status.

import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio.ts';
import { statusList } from './status.ts';

export const workloadEntry = istioKind({
  kind: 'WorkloadEntry',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.WorkloadEntry',
  status: statusList('conditions', ['type', 'status'], condition => condition.type === 'Healthy'),
});
