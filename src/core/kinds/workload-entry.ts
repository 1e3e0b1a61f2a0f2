// WorkloadEntry: one workload outside Kubernetes, such as a virtual machine. Its health is the condition Healthy of its status.
// Rules: Istio pkg/config/validation (ValidateWorkloadEntry).

import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio.ts';
import { workloadEntryReferences } from './references-networking.ts';
import { statusList } from './status.ts';
import { checkEndpoint } from './validate/endpoints.ts';

export const workloadEntry = istioKind({
  kind: 'WorkloadEntry',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.WorkloadEntry',
  references: workloadEntryReferences,
  rules: (spec, report) => checkEndpoint(spec, {}, 'spec', report),
  indexes: obj => ({ workloadEntriesByAddress: obj.spec.address ? [obj.spec.address] : [] }),
  status: statusList('conditions', ['type', 'status'], condition => condition.type === 'Healthy'),
});
